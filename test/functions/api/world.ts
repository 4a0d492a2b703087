/** The API as invoked by API Gateway, over a ledger on the same machine. */
import { vi } from 'vitest'
import type { FleetView } from '../../../shared/fleet/fleet-view.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'

export interface Asking {
  readonly path?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** ARN of the caller. */
  readonly by?: string
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: what a test says of an answer is its own check
  readonly body: any
}

export interface ApiWorld {
  readonly world: World
  /** One request; `route` as in API Gateway, `GET /fleet`. */
  ask(route: string, asking?: Asking): Promise<Answered>
  fleet(): Promise<FleetView>
  close(): Promise<void>
}

export async function openApiWorld(): Promise<ApiWorld> {
  const world = await startWorld()
  const environment = {
    TABLE_NAME: world.ledger.table,
    DOCUMENTS_BUCKET: 'documents',
    OUTBOX_URL: world.ending.outbox.url,
    STATE_MACHINE_ARN: world.ending.stateMachineArn,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  vi.resetModules()
  const { handler } = await import('../../../functions/api/handler.ts')

  async function ask(route: string, { path, headers, body, by }: Asking = {}): Promise<Answered> {
    const answer = await handler({
      routeKey: route,
      pathParameters: path,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      isBase64Encoded: false,
      requestContext: { requestId: crypto.randomUUID(), authorizer: by ? { iam: { userArn: by } } : undefined },
    })
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) }
  }

  return {
    world,
    ask,
    fleet: async () => (await ask('GET /fleet')).body as FleetView,
    async close() {
      vi.unstubAllEnvs()
      await world.close()
    },
  }
}
