/**
 * Warm containers: two installations with different configurations, through the same containers, one after the other
 * and in turns. No content of one installation may appear in the other.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { installationId } from '../../infra/local/github/identity.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { SECRET_TTL_MS } from '../../shared/base/limits.ts'
import { appSecretName, putAppSecret, readAppSecret } from './app-secret.ts'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'
import { type Invocation, watchInvocations } from './invocations.ts'
import { openTap, type Tap } from './tap.ts'
import { deliver, payloadOf } from './webhooks.ts'

patientTests()

/** An installation, and a word in all its texts and in no other text. */
interface Tenant {
  readonly owner: string
  readonly word: string
  readonly model: string
  readonly configuration: string
  /** Effects of the configuration on the summary or the review, and words that it suppresses. */
  readonly says: readonly string[]
  readonly omits: readonly string[]
  /** A configuration with a fault of its own, and the report of the fault. */
  readonly faulty: string
  readonly fault: string
}

const ACME: Tenant = {
  owner: 'acme',
  word: 'scarlet',
  model: 'model-of-acme',
  configuration: 'lenses: { secrets: off }\nmodels: { default: model-of-acme }\nrounds: { ceiling: 2 }\n',
  says: ['round 1 of 2', 'A scarlet fault', 'Scarlet reasons'],
  omits: ['A credential is added', 'round 1 of 1'],
  faulty: 'lensez: {}\n',
  fault: 'Did you mean `lenses`?',
}
const GLOBEX: Tenant = {
  owner: 'globex',
  word: 'cobalt',
  model: 'model-of-globex',
  configuration: 'lenses: { description: off }\nmodels: { default: model-of-globex }\nrounds: { ceiling: 1 }\n',
  says: ['round 1 of 1', 'A cobalt fault', 'A credential is added'],
  omits: ['reasons', 'round 1 of 2'],
  faulty: 'rounds: { ceiling: 99 }\n',
  fault: 'must be a whole number from 0 to 10',
}
const TENANTS = [ACME, GLOBEX]
const other = (tenant: Tenant) => (tenant === ACME ? GLOBEX : ACME)

/** Rooms on the way of every run. */
const ROOMS = ['webhook', 'plan', 'admit', 'review', 'conclude', 'post']
const AWS_KEY_ID = ['AKIA', 'Z7QX4N2M', 'P5TJ3WLK'].join('')

let muster: Muster
let tap: Tap
let invocations: readonly Invocation[]
/** Ids by which an event shows its tenant. */
const idsOf = new Map<Tenant, string[]>(TENANTS.map((tenant) => [tenant, []]))
let opened = 0

beforeAll(async () => {
  muster = await startMuster({ model: true })
  tap = openTap(muster)
  invocations = watchInvocations(muster.stack)
  // A single slot, so that one container of each room does all the work, in turns.
  const limits = { configured: 1, enabled: true }
  await muster.aws.put({ pk: 'FLEET#main', sk: 'FLEET', limits, slots: {}, version: 1 })
})
afterAll(async () => {
  tap?.close()
  await muster?.close()
})

interface Opened {
  readonly tenant: Tenant
  /** The line in the model's prompt. */
  readonly line: string
  readonly pullRequest: TestPullRequest
  readonly run: string
}

/**
 * Opens a pull request with a fault, a secret, and a description without its section. `beforehand` is called with the
 * line of the fault.
 */
async function open(
  tenant: Tenant,
  configuration = tenant.configuration,
  beforehand?: (line: string) => void,
): Promise<Opened> {
  opened += 1
  const { owner, word } = tenant
  const name = `warm-${opened}`
  const Word = word.charAt(0).toUpperCase() + word.slice(1)
  const repository = await muster.repository(
    name,
    { '.github/muster.yml': configuration, '.github/pull_request_template.md': `## ${Word} reasons\n` },
    owner,
  )
  const line = `export const ${word}_${opened} = 1`
  const claim = { rule: 'wrong-result', severity: 'high', title: `A ${word} fault`, scenario: `It is ${word}.` }
  const findings = [{ ...claim, clears: `No ${word}.`, path: `src/${word}.ts`, quote: line, side: 'new', line: null }]
  muster.model.answer(line, { findings })
  beforehand?.(line)
  const pullRequest = await muster.open(
    repository,
    { [`src/${word}.ts`]: `${line}\nexport const key = '${AWS_KEY_ID}'\n` },
    { title: `The ${word} change`, body: `All ${word}` },
  )
  const { body } = await muster.answered(pullRequest)
  const run = String(body.run)
  idsOf.get(tenant)?.push(run, String(repository.id))
  return { tenant, line, pullRequest, run }
}

/** Opens, and waits for the end. */
async function review(tenant: Tenant, configuration?: string): Promise<Opened> {
  const one = await open(tenant, configuration)
  await muster.runEnded(one.run)
  return one
}

/** All texts of Muster on a pull request. */
function said({ pullRequest }: Opened): string {
  const { reviews, issueComments, checkRuns, labels } = muster.shown(pullRequest)
  return [...reviews, ...issueComments, ...checkRuns, ...labels].map((one) => JSON.stringify(one)).join('\n')
}

function expectOwn(one: Opened): void {
  const text = said(one)
  for (const own of one.tenant.says) expect(text).toContain(own)
  for (const foreign of [...one.tenant.omits, other(one.tenant).word]) expect(text).not.toContain(foreign)
}

/** `acme→globex` where a container served the first tenant and then the second, by room. */
function handOvers(room: string): Set<string> {
  const houseOf = ({ event }: Invocation) =>
    TENANTS.find((tenant) => idsOf.get(tenant)?.some((id) => event.includes(id)))
  return new Set(
    invocations
      .filter((invocation) => invocation.room === room && invocation.before)
      .map((invocation) => [invocation.before && houseOf(invocation.before)?.owner, houseOf(invocation)?.owner])
      .filter(([from, to]) => from && to && from !== to)
      .map(([from, to]) => `${from}→${to}`),
  )
}

describe('L10: through the same warm containers', () => {
  it('each run has the lenses, the model, the rounds and the texts of its own repository, in either order', async () => {
    for (const tenant of [ACME, GLOBEX, ACME]) expectOwn(await review(tenant))
  })

  it('the same holds with two runs in turns: the second plans and is admitted during the reading of the first', async () => {
    for (const tenant of TENANTS) {
      let held: ReturnType<Muster['model']['hold']> | undefined
      const first = await open(tenant, tenant.configuration, (line) => {
        held = muster.model.hold(line)
      })
      await muster.until('the question to the model', () => muster.model.callsAbout(first.line).length > 0)
      const second = await open(other(tenant))
      await muster.until('its plan', async () => (await muster.run(second.run))?.plan !== undefined)
      held?.release()
      await Promise.all([muster.runEnded(first.run), muster.runEnded(second.run)])
      expectOwn(second)
      expect(said(first)).not.toContain(other(tenant).word)
    }
  })

  it('each tenant gets the problem of its own configuration, and the next run has none', async () => {
    const faulty = await Promise.all(TENANTS.map((tenant) => open(tenant, tenant.faulty)))
    const sound = await Promise.all([...TENANTS].reverse().map((tenant) => open(tenant)))
    await Promise.all([...faulty, ...sound].map(({ run }) => muster.runEnded(run)))
    for (const one of faulty) {
      expect(said(one)).toContain(one.tenant.fault)
      expect(said(one)).not.toContain(other(one.tenant).fault)
    }
    for (const one of sound) {
      expectOwn(one)
      for (const { fault } of TENANTS) expect(said(one)).not.toContain(fault)
    }
  })

  it.each(ROOMS)('%s: one container served both installations, in both orders', (room) => {
    expect(handOvers(room)).toEqual(new Set(['acme→globex', 'globex→acme']))
  })

  it('a model gets the pull requests of the right installation alone', () => {
    const asked = tap.of('model').map(({ request }) => request)
    for (const tenant of TENANTS) {
      const own = asked.filter((request) => request.includes(tenant.word))
      const models = own.map((request) => (JSON.parse(request) as { model: string }).model)
      // The faulty configuration falls back to the model of the deployment.
      expect(new Set(models)).toEqual(new Set([tenant.model, 'led']))
      expect(own.filter((request) => request.includes(other(tenant).word))).toEqual([])
    }
  })

  it('no document, item, message, execution, post or line of a log holds words of both', () => {
    const wholes = [
      ...tap.exchanges.filter(({ service }) => service !== 'secrets').map(({ request }) => request),
      ...muster.lines.map(({ text }) => text),
      ...invocations.map(({ event }) => event),
    ]
    const mixed = wholes.filter((whole) =>
      TENANTS.every(({ word, owner }) => whole.includes(word) || whole.includes(owner)),
    )
    expect(mixed).toEqual([])
  })

  it('every request to a repository carries a token of the installation that owns the repository; tokens are kept', () => {
    const installations = new Map<string, number>()
    const used = new Map<string, number>(TENANTS.map(({ owner }) => [owner, 0]))
    for (const { method, url, headers, response } of tap.of('github')) {
      const bought = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(url)?.[1]
      if (method === 'POST' && bought) {
        installations.set((JSON.parse(response) as { token: string }).token, Number(bought))
        continue
      }
      const owner = /^\/repos\/([^/]+)\//.exec(url)?.[1]
      if (!owner) continue
      const token = headers.authorization?.replace(/^(bearer|token) /i, '') ?? ''
      expect([url, installations.get(token)]).toEqual([url, installationId(owner)])
      used.set(owner, (used.get(owner) ?? 0) + 1)
    }
    for (const { owner } of TENANTS) expect(used.get(owner)).toBeGreaterThan(installations.size * 10)
  })
})

describe('a rotated webhook secret', () => {
  const labeled = () =>
    payloadOf({
      repository: { id: 1, owner: 'acme', name: 'warm' },
      number: 1,
      head: 'a'.repeat(40),
      action: 'labeled',
    })
  const statusUnder = async (secret: string) => (await deliver(muster.stack.webhookUrl, secret, labeled())).status

  it('a warm container accepts old and new secrets, and after the rotation no old secret', async () => {
    const app = await readAppSecret(muster.stack)
    const fresh = randomBytes(32).toString('hex')
    expect(await statusUnder(muster.webhookSecret)).toBe(202)
    const coldStarts = muster.stack.functions.coldStarts('webhook')

    await putAppSecret(muster.stack, { ...app, webhookSecrets: [muster.webhookSecret, fresh] })
    await muster.until('the new secret being taken', async () => (await statusUnder(fresh)) === 202)
    expect(await statusUnder(muster.webhookSecret)).toBe(202)

    await putAppSecret(muster.stack, { ...app, webhookSecrets: [fresh] })
    await muster.until('the old secret being refused', async () => {
      // A signature without a matching secret makes a container read the secret anew, at most once in its cooldown.
      expect(await statusUnder('neither')).toBe(401)
      return (await statusUnder(muster.webhookSecret)) === 401
    })
    expect(await statusUnder(fresh)).toBe(202)
    expect(muster.stack.functions.coldStarts('webhook')).toBe(coldStarts)
  })

  it('a container reads the secret again at the end of its life, without a failure', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', muster.stack.endpoints.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? '')
    vi.stubEnv('AWS_REGION', muster.stack.assembly.account.region)
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
    try {
      const secret = openSecret(appSecretName(muster.stack))
      const now = Date.now()
      const { text, version } = await secret.read(now)
      await putAppSecret(muster.stack, { ...(await readAppSecret(muster.stack)), webhookSecrets: ['the next one'] })
      expect(await secret.read(now + SECRET_TTL_MS - 1)).toEqual({ text, version })
      const next = await secret.read(now + SECRET_TTL_MS)
      expect(next.version).not.toBe(version)
      expect(next.text).toContain('the next one')
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
