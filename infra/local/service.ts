/** The form of every local service: an HTTP endpoint on loopback that can be closed. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalService {
  /** Base URL without a trailing slash, always on 127.0.0.1. */
  readonly url: string
  /** Stops accepting, ends open connections, and resolves when everything is on disk. Repeatable. */
  close(): Promise<void>
}

/**
 * Serves `listener` on 127.0.0.1 and resolves once it accepts connections.
 * `port` 0 or absent takes any free port; a port in use rejects with the system's `EADDRINUSE`.
 */
export async function serve(listener: RequestListener, port = 0): Promise<LocalService> {
  const server = createServer(listener)
  server.keepAliveTimeout = 60_000 // ms; longer than the SDK keeps an idle connection, so the SDK never meets a closed connection
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${address.port}`,
    close() {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closing
    },
  }
}
