/** The GitHub stand-in with the example's pull request, behind a wire that a test can break. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExampleRepository, type ExampleRepository } from '../../../infra/local/github/example.ts'
import { type GitHubStandIn, startGitHub } from '../../../infra/local/github/github.ts'
import { installationId, repositoryId } from '../../../infra/local/github/identity.ts'
import { serve } from '../../../infra/local/service.ts'
import { openGitHub } from '../../../shared/github/client.ts'
import type { GitHub, Repo } from '../../../shared/github/github.ts'
import { assertNoViolations, validating } from '../../contract/contract.ts'

/** A fault of the wire: the answer is lost after the request took effect, or the request never arrives. */
export type Fault =
  | { readonly kind: 'answer_lost' }
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly body: unknown
      readonly headers?: Record<string, string>
    }
  /** `work` happens first, at exactly this moment. */
  | { readonly kind: 'meanwhile'; readonly work: () => Promise<void> }

export interface Wire {
  /** Breaks the next `times` requests that match, e.g. `POST /reviews$`. */
  break(pattern: RegExp, fault: Fault, times?: number): void
  /** `METHOD path` of all requests, in order. */
  readonly asked: string[]
}

export interface TestWorld {
  readonly standIn: GitHubStandIn
  readonly example: ExampleRepository
  readonly github: GitHub
  readonly wire: Wire
  readonly repo: Repo
  readonly repositoryId: number
  readonly number: number
  close(): Promise<void>
}

const REPO: Repo = { owner: 'acme', name: 'parcels' }

export async function openWorld(options: { author?: 'ana' | 'muster[bot]'; lagMs?: number } = {}): Promise<TestWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'muster-github-'))
  const example = await buildExampleRepository(join(directory, 'example'))
  const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const app = { id: 77, slug: 'muster', privateKey, webhookSecret: 'unused' }
  const standIn = await startGitHub({ app, ...(options.lagMs === undefined ? {} : { lagMs: options.lagMs }) })
  validating(standIn)
  await standIn.addRepository({ ...REPO, gitDirectory: example.gitDirectory, defaultBranch: example.base.ref })
  const login = options.author ?? 'ana'
  const number = await standIn.openPullRequest({
    repository: `${REPO.owner}/${REPO.name}`,
    base: example.base.ref,
    baseSha: example.base.sha,
    head: example.head.ref,
    headSha: example.head.sha,
    title: example.title,
    body: example.body,
    author: { login, type: login === 'ana' ? 'User' : 'Bot' },
  })
  const { wire, url, close } = await openWire(standIn.url)
  const github = openGitHub({ appId: app.id, privateKey }, { baseUrl: url })(installationId(REPO.owner))
  return {
    standIn,
    example,
    github,
    wire,
    repo: REPO,
    repositoryId: repositoryId(REPO.owner, REPO.name),
    number,
    async close() {
      await close()
      await standIn.close()
      rmSync(directory, { recursive: true, force: true })
      assertNoViolations(standIn)
    },
  }
}

async function openWire(target: string) {
  const faults: { pattern: RegExp; fault: Fault; times: number }[] = []
  const asked: string[] = []

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0]
    const name = `${request.method} ${path}`
    asked.push(name)
    const broken = faults.find(({ pattern, times }) => times > 0 && pattern.test(name))
    if (broken !== undefined) broken.times -= 1
    const fault = broken?.fault
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (fault?.kind === 'answered') {
      response
        .writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
        .end(JSON.stringify(fault.body))
      return
    }
    if (fault?.kind === 'meanwhile') await fault.work()
    const forwarded = httpRequest(
      new URL(request.url ?? '/', target),
      { method: request.method ?? 'GET', headers: request.headers },
      (answer) => {
        if (fault?.kind === 'answer_lost') {
          answer.resume().once('end', () => response.destroy())
          return
        }
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    forwarded.once('error', () => response.destroy())
    forwarded.end(Buffer.concat(chunks))
  }

  const service = await serve((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  const wire: Wire = {
    asked,
    break(pattern, fault, times = 1) {
      faults.push({ pattern, fault, times })
    },
  }
  return { wire, url: service.url, close: service.close }
}
