/**
 * The common parts of the stand-in's tests: git repositories in temporary folders, an App with a key, a client, an
 * endpoint.
 */
import { execFileSync } from 'node:child_process'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { onTestFinished } from 'vitest'
import { type GitHubOptions, type GitHubStandIn, startGitHub } from '../../../../infra/local/github/github.ts'
import { installationId } from '../../../../infra/local/github/identity.ts'
import { serve } from '../../../../infra/local/service.ts'
import { assertNoViolations, validating } from '../../../contract/contract.ts'

/** Contents by path; null deletes. */
export type Files = Record<string, string | Buffer | null>

export interface TestRepository {
  directory: string
  /** Full SHAs, in the order of the commits. */
  commits: string[]
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

export const APP = { id: 4_711, slug: 'muster-test', privateKey, webhookSecret: 'a secret for tests' }
export const REPOSITORY = 'acme/widgets'

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-github-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function git(directory: string, command: readonly string[], input?: Buffer | string): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  return execFileSync('git', command, { cwd: directory, env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })
}

/** A bare repository whose branch `main` has these commits, each upon the one before. */
export function makeRepository(...history: Files[]): TestRepository {
  const directory = temporaryDirectory()
  git(directory, ['init', '--quiet', '--bare', '--initial-branch=main'])
  const parts: Buffer[] = []
  const add = (text: string | Buffer) => parts.push(Buffer.from(text as string))
  for (const [index, files] of history.entries()) {
    const signature = `Ana <ana@example.com> ${1_790_000_000 + index} +0200`
    add(`commit refs/heads/main\nmark :${index + 1}\nauthor ${signature}\ncommitter ${signature}\ndata 6\nchange\n`)
    if (index > 0) add(`from :${index}\n`)
    for (const [path, content] of Object.entries(files)) {
      const name = `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
      if (content === null) {
        add(`D ${name}\n`)
        continue
      }
      const bytes = Buffer.from(content as string)
      add(`M 100644 inline ${name}\ndata ${bytes.length}\n`)
      add(bytes)
      add('\n')
    }
  }
  git(directory, ['fast-import', '--quiet'], Buffer.concat(parts))
  const commits = git(directory, ['rev-list', '--reverse', 'main']).trim().split('\n')
  return { directory, commits }
}

type TestOptions = Partial<GitHubOptions> & { readonly webhookUrl?: string }

/** Closed at the end of the test, which fails after any request or answer that GitHub's description forbids. */
export async function startedGitHub({ webhookUrl, ...options }: TestOptions = {}): Promise<GitHubStandIn> {
  const github = await startGitHub({ app: APP, ...options })
  if (webhookUrl !== undefined) github.setWebhookUrl(webhookUrl)
  validating(github)
  onTestFinished(async () => {
    await github.close()
    assertNoViolations(github, { refusedRequests: true })
  })
  return github
}

/** A stand-in with a repository and an open pull request from its first to its last commit. */
export async function withPullRequest(repository: TestRepository, options: TestOptions = {}) {
  const github = await startedGitHub(options)
  const number = await openPullRequest(github, repository)
  return { github, number, octokit: clientOf(github) }
}

export async function openPullRequest(github: GitHubStandIn, { directory, commits }: TestRepository): Promise<number> {
  await github.addRepository({ owner: 'acme', name: 'widgets', gitDirectory: directory, defaultBranch: 'main' })
  return github.openPullRequest({
    repository: REPOSITORY,
    base: 'main',
    baseSha: commits[0] ?? '',
    head: 'feature',
    headSha: commits.at(-1) ?? '',
    title: 'A change',
    body: 'What it is for',
    author: { login: 'jun', type: 'User' },
  })
}

/** A client with the installation's token, got by the App's own JWT as in production. */
export function clientOf(github: Pick<GitHubStandIn, 'url'>): Octokit {
  const octokit = new Octokit({ baseUrl: github.url, log: SILENT })
  const authorize = authorizerOf(github)
  octokit.hook.before('request', async (request) => {
    request.headers.authorization = await authorize()
  })
  return octokit
}

/** The `authorization` header of the installation's token, for requests without a client. */
export function authorizationOf(github: Pick<GitHubStandIn, 'url'>): Promise<string> {
  return authorizerOf(github)()
}

function authorizerOf({ url }: Pick<GitHubStandIn, 'url'>): () => Promise<string> {
  const auth = { appId: APP.id, privateKey: APP.privateKey, installationId: installationId('acme') }
  const app = new Octokit({ baseUrl: url, authStrategy: createAppAuth, auth, log: SILENT })
  return async () => `token ${((await app.auth({ type: 'installation' })) as { token: string }).token}`
}

/** A JWT of these claims, signed as by an App. */
export function jwt(claims: object, { key = APP.privateKey, alg = 'RS256' } = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg, typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
}

/** These tests provoke refusals; the client need not warn of them. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export const AT = { owner: 'acme', repo: 'widgets' }

export interface Refused {
  status: number
  message: string
  errors: unknown
}

/** GitHub's answer to a call that must be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<Refused> {
  try {
    await call
  } catch (error) {
    const { status, response } = error as { status: number; response: { data: { message: string; errors?: unknown } } }
    return { status, message: response.data.message, errors: response.data.errors }
  }
  throw new Error('the call was not refused')
}

export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** An endpoint that keeps its requests; `answer` decides the status, 202 by default. */
export async function webhookEndpoint(answer: (received: Received) => number | Promise<number> = () => 202) {
  const received: Received[] = []
  const service = await serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const one = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
    received.push(one)
    response.writeHead(await answer(one)).end('noted')
  })
  onTestFinished(() => service.close())
  return { url: service.url, received }
}

/** Waits, change by change, until a condition holds. */
export async function until(github: GitHubStandIn, holds: () => boolean): Promise<void> {
  for (;;) {
    const change = github.changed()
    if (holds()) return
    await change
  }
}
