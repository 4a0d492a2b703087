/**
 * Canaries: a separate secret for every entry, and a check of every exit. The test watches the exits during the
 * traffic, so that overwritten or consumed content is seen too.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installationId } from '../../infra/local/github/identity.ts'
import { REDACTED } from '../../shared/base/redaction.ts'
import { readAppSecret } from './app-secret.ts'
import { awsKey, canaries, plant, privateKey, random, seenIn, token, word } from './canaries.ts'
import { type Muster, patientTests, startMuster } from './harness.ts'
import { type Exchange, openTap, type Tap } from './tap.ts'
import { payloadOf, signatureOf } from './webhooks.ts'
import { action, type Match, route } from './wire.ts'

patientTests()

const MODEL_KEY = 'key-of-the-led-model'
let muster: Muster
let tap: Tap
/** The answer of a model, or of GitHub, with a fault on the wire. */
const said = (place: string) => `${awsKey(place)}, ${token(place)}, ${privateKey(place)}`

beforeAll(async () => {
  muster = await startMuster({ model: true })
  tap = openTap(muster)
  const app = await readAppSecret(muster.stack)
  const lines = app.privateKey.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
  plant('the private key of the App', app.privateKey, lines, false)
  plant('the webhook secret', muster.webhookSecret, [muster.webhookSecret], false)
  plant('the key of the model', MODEL_KEY, [MODEL_KEY], false)

  await runThatPasses()
  await runWithFindings()
  await runsWithModelErrors()
  await runsWithGitHubErrors()
  await runsWithBrokenConfiguration()
  await commands()
  await refusedDeliveries()
})
afterAll(async () => {
  tap?.close()
  await muster?.close()
})

describe('every canary', () => {
  it('every canary came in where it was planted', () => {
    const came = tap.exchanges
      .map(({ service, url, headers, request, response }) => {
        // Muster's own requests to these services are no entries.
        const answers = ['github', 'model', 'secrets', 'dynamodb'].includes(service)
        return answers
          ? `${response}${decoded(response)}`
          : service === 'api'
            ? `${url}${JSON.stringify(headers)}${request}`
            : ''
      })
      .join('\n')
    const unescaped = came.replaceAll('\\n', '\n')
    expect(canaries.length).toBeGreaterThan(40)
    expect(canaries.filter(({ traces }) => !traces.every((trace) => inPlay(unescaped, trace)))).toEqual([])
  })
})

describe('AW91, RC7, I8: no canary goes out', () => {
  it('no canary is in any line of a log', async () => {
    // A function's output arrives later than the answer; the awaited line is the last provoked line.
    await muster.until('the line about the error of the table', () =>
      muster.lines.some(({ text }) => text.startsWith('Invoke Error') && text.includes('ValidationException')),
    )
    expect(muster.lines.length).toBeGreaterThan(50)
    expect(muster.lines.filter(({ text }) => seenIn(text).length > 0)).toEqual([])
  })

  it('no canary is in any write to the ledger, or in its items', async () => {
    const items = await muster.aws.scan()
    expect(items.length).toBeGreaterThan(30)
    expect(items.flatMap((item) => seenIn(JSON.stringify(item)))).toEqual([])
    expect(tap.of('dynamodb').length).toBeGreaterThan(100)
    expect(tap.of('dynamodb').flatMap(({ request }) => seenIn(request))).toEqual([])
  })

  it('no canary is in the input, output or history of an execution, or in an answer to one', async () => {
    const executions = await muster.aws.executions()
    expect(executions.length).toBeGreaterThan(8)
    for (const { executionArn = '' } of executions) {
      expect(seenIn(JSON.stringify(await muster.aws.history(executionArn)))).toEqual([])
    }
    expect(tap.of('stepfunctions').flatMap(({ request, response }) => seenIn(request + response))).toEqual([])
  })

  it('no canary is in a message of a queue', () => {
    const sent = tap.of('sqs').filter(({ action }) => action.startsWith('SendMessage'))
    expect(sent.length).toBeGreaterThan(8)
    expect(sent.flatMap(({ request }) => seenIn(request))).toEqual([])
  })

  it('no canary is in an answer over HTTP, refusal or not', () => {
    const answers = tap.of('api')
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 400, 401, 404, 413, 415, 422, 500]))
    expect(answers.flatMap(({ response }) => seenIn(response))).toEqual([])
  })

  it('no canary goes to GitHub: reviews, comments, check runs, annotations and labels hold only the redacted form of secrets', () => {
    const posted = tap.of('github').filter(({ method }) => method !== 'GET')
    expect(posted.filter(({ request }) => request.includes(REDACTED)).length).toBeGreaterThan(1)
    expect(posted.flatMap(({ url, request }) => seenIn(url + request))).toEqual([])
  })

  it('no canary goes to a model', () => {
    expect(tap.of('model').length).toBeGreaterThan(5)
    expect(tap.of('model').flatMap(({ request }) => seenIn(request))).toEqual([])
  })

  it('no canary goes to the documents, except the material of lenses: the plan, and the texts of files, unchanged', () => {
    const stored = tap.of('s3').filter(({ method }) => method === 'PUT')
    const given = stored.filter(isMaterial)
    expect(given.flatMap(({ request }) => seenIn(request, ({ material }) => material))).not.toEqual([])
    expect(given.flatMap(({ request }) => seenIn(request, ({ material }) => !material))).toEqual([])
    const rest = stored.filter((put) => !isMaterial(put))
    expect(rest.filter(({ request }) => request.includes(REDACTED)).length).toBeGreaterThan(3)
    expect(rest.flatMap(({ request }) => seenIn(request))).toEqual([])
  })
})

describe('AW92', () => {
  it('the expected and the received signature of a body are in no log and in no answer', () => {
    const deliveries = tap.of('api').filter(({ url }) => url.endsWith('/github/webhook'))
    const signatures = deliveries.flatMap(({ headers, request }) => [
      signatureOf(muster.webhookSecret, request).slice('sha256='.length),
      (headers['x-hub-signature-256'] ?? '').slice('sha256='.length),
    ])
    const known = new Set(signatures.filter((signature) => signature !== ''))
    expect(known.size).toBeGreaterThan(12)
    const told = [...muster.lines.map(({ text }) => text), ...tap.of('api').map(({ response }) => response)].join('\n')
    expect([...known].filter((signature) => told.includes(signature))).toEqual([])
  })
})

describe('AW91: GitHub’s credentials for an installation', () => {
  it('the installation’s token, and the App’s own, go to GitHub only', async () => {
    const given = new Set(
      tap.of('github').flatMap(({ headers }) => headers.authorization?.replace(/^(bearer|token) /i, '') ?? []),
    )
    expect(given.size).toBeGreaterThan(1)
    const elsewhere = [
      ...muster.lines.map(({ text }) => text),
      ...tap.exchanges.map((exchange) => (exchange.service === 'github' ? '' : exchange.request + exchange.response)),
      ...tap.of('github').map(({ url, request }) => url + request),
    ].join('\n')
    expect([...given].filter((token) => elsewhere.includes(token))).toEqual([])
  })
})

/**
 * A lens must read the repository's real content: a redacted file has other code, and no secret to find. So the plan
 * (with description and diff) and the texts of files are stored unchanged, for the lenses only, in a bucket without
 * other readers. Everything derived from them is redacted.
 */
function isMaterial({ headers, request }: Exchange): boolean {
  if (headers['content-type']?.startsWith('text/plain')) return true
  const value = JSON.parse(request) as object
  return 'planKey' in value && 'reviews' in value && 'files' in value
}

/** The content of a file in GitHub's answer; empty for answers without content. */
function decoded(response: string): string {
  const content = /"content":"([A-Za-z0-9+/=\\n]+)"/.exec(response)?.[1] ?? ''
  return Buffer.from(content.replaceAll('\\n', ''), 'base64').toString('utf8')
}

/** The App's key goes in as JSON, whose line feeds are escaped once more inside a secret. */
function inPlay(text: string, trace: string): boolean {
  return text.includes(trace) || text.includes(trace.replaceAll('/', '\\/'))
}

async function runThatPasses(): Promise<void> {
  const repository = await muster.repository('canary-pass')
  const pullRequest = await muster.open(
    repository,
    { 'src/pass.ts': 'export const it_passes = 1\n' },
    {
      title: `Rotate ${token('the title', true)}`,
      body: `Before: ${awsKey('the description', true)}\n\n${privateKey('the description', true)}\n`,
    },
  )
  expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'pass' })
}

async function runWithFindings(): Promise<void> {
  const repository = await muster.repository('canary-findings')
  const key = awsKey('an added line', true)
  const marker = 'export const it_has_findings = 1'
  const claim = (place: string, more: object) => ({
    rule: 'wrong-result',
    severity: 'high',
    title: `A fault of ${place}`,
    scenario: 'It answers the wrong thing.',
    clears: 'Answer the right thing.',
    path: 'src/keys.ts',
    quote: marker,
    side: 'new',
    line: null,
    ...more,
  })
  muster.model.answer(marker, {
    findings: [
      claim('title', { title: `It answers ${awsKey('a finding’s title')} for ${token('a finding’s title')}` }),
      claim('why', { scenario: `It tells ${said('a finding’s why')} to everybody` }),
      claim('clears', { clears: `Revoke ${said('a finding’s way out')}` }),
      claim('quote', { quote: `export const id = '${key}'` }),
      claim('rejected', {
        title: `Rejected: ${token('a rejected finding’s title')}`,
        path: `src/${awsKey('a rejected finding’s path')}.ts`,
      }),
      claim('rejected quote', { quote: `const gone = '${token('a rejected finding’s quote')}'` }),
    ],
  })
  const pullRequest = await muster.open(
    repository,
    {
      'src/keys.ts': `${marker}\nexport const id = '${key}'\nexport const t = '${token('an added line', true)}'\n`,
      'src/key.pem': `${privateKey('an added file', true)}\n`,
      '.github/workflows/build.yml': `on: push\njobs:\n  ${token('a workflow', true)}:\n    runs-on: ubuntu-latest\n    needs: [${awsKey('a workflow', true)}]\n    steps:\n      - run: echo \${{ secrets.${token('a workflow’s expression', true)} }} \${{ ${awsKey('a workflow’s expression', true)} }}\n`,
    },
    { body: `# ${token('a heading of the description', true)}\n` },
  )
  expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'changes_requested' })
  // The next head carries the open findings on, and their conversation.
  const next = await muster.push(pullRequest, { 'src/keys.ts': `export const it_is_clean = 1\n` })
  expect(await muster.ended(next)).toMatchObject({ state: 'ended' })
}

const COMPLETION = route('POST', /\/chat\/completions$/)

async function runsWithModelErrors(): Promise<void> {
  const echo = (place: string) => `Incorrect API key provided: ${MODEL_KEY}. Your request held ${said(place)}`
  const answers = {
    refused: { status: 401, body: { error: { message: echo('a model’s 401') } } },
    broken: { status: 500, body: { detail: echo('a model’s 500') } },
    otherwise: {
      status: 200,
      body: {
        id: 'answer',
        object: 'chat.completion',
        created: 0,
        model: 'led',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: JSON.stringify({ findings: [{ [token('a model’s answer of another shape')]: 1 }] }),
            },
            finish_reason: 'stop',
          },
        ],
      },
    },
  }
  for (const [name, answer] of Object.entries(answers)) {
    const repository = await muster.repository(`canary-model-${name}`)
    const fault = muster.wire.refuse(COMPLETION, answer)
    const pullRequest = await muster.open(repository, { 'src/m.ts': `export const model_${name} = 1\n` })
    const run = await muster.ended(pullRequest)
    fault.lift()
    expect(fault.count).toBeGreaterThan(0)
    expect(run).toMatchObject({ verdict: 'incomplete' })
  }
}

async function commands(): Promise<void> {
  const repository = await muster.repository('canary-commands')
  muster.github.setPermission(repository.fullName, 'mia', 'write')
  const pullRequest = await muster.open(repository, { 'src/c.ts': 'export const commanded = 1\n' })
  await muster.ended(pullRequest)
  const command = async (text: string) => {
    const id = muster.github.comment(repository.fullName, pullRequest.number, 'mia', text)
    await muster.until(`a reply to comment ${id}`, () =>
      muster.shown(pullRequest).issueComments.some(({ body }) => body.includes(`reply ${id}`)),
    )
  }
  await command(`/muster ${token('a word of a command')}`)
  await command(`/muster review look at ${said('a focus')}`)
  await muster.until('the end of the run with the focus', async () => {
    const { liveRun } = (await muster.thread(pullRequest)) as { liveRun?: { runId: string } }
    const run = liveRun && (await muster.run(liveRun.runId))
    return run?.focus !== undefined && run.state === 'ended'
  })
  await command(`/muster pause because of ${said('the reason of a pause')}`)
}

async function runsWithGitHubErrors(): Promise<void> {
  const failing = async (
    name: string,
    fault: { match: Match; status: number; times?: number },
    more: { owner?: string; finding?: true; expected: object },
  ) => {
    const repository = await muster.repository(name, {}, more.owner)
    const wired = muster.wire.refuse(
      fault.match,
      {
        status: fault.status,
        body: {
          message: `${said(`GitHub’s ${fault.status} in ${name}`)}`,
          errors: [{ message: token(`an error in GitHub’s ${fault.status} in ${name}`) }],
        },
      },
      fault.times,
    )
    const line = `export const ${name.replaceAll('-', '_')} = 1`
    if (more.finding) {
      const texts = { title: 'A fault', scenario: 'It is wrong.', clears: 'Make it right.' }
      const finding = { rule: 'wrong-result', severity: 'high', ...texts, path: 'src/g.ts', quote: line }
      muster.model.answer(line, { findings: [{ ...finding, side: 'new', line: null }] })
    }
    const pullRequest = await muster.open(repository, { 'src/g.ts': `${line}\n` })
    const run = await muster.ended(pullRequest)
    expect(wired.count).toBeGreaterThan(0)
    wired.lift()
    expect(run).toMatchObject(more.expected)
  }
  const files = (name: string) => route('GET', new RegExp(`/${name}/pulls/1/files`))
  const failed = { outcome: 'failed', reason: { code: 'github_refused' } }
  await failing('canary-forbidden', { match: files('canary-forbidden'), status: 403 }, { expected: failed })
  // More than one call asks again by itself: the machine gets the error, and its history keeps the error.
  await failing(
    'canary-gateway',
    { match: files('canary-gateway'), status: 502, times: 3 },
    { expected: { verdict: 'pass' } },
  )
  const tokens = route('POST', new RegExp(`/installations/${installationId('globex')}/access_tokens$`))
  await failing('canary-token', { match: tokens, status: 403 }, { owner: 'globex', expected: failed })
  await failing(
    'canary-review',
    { match: route('POST', /\/canary-review\/pulls\/1\/reviews$/), status: 422, times: 1 },
    { finding: true, expected: { state: 'ended' } },
  )
  await failing(
    'canary-check-run',
    { match: route('POST', /\/canary-check-run\/check-runs$/), status: 422, times: 1 },
    { expected: { state: 'ended' } },
  )
}

async function runsWithBrokenConfiguration(): Promise<void> {
  const files: Record<string, string> = {
    key: `${token('a key of the configuration', true)}: 1\nlenses: { ${awsKey('a nested key of the configuration', true)}: off }\n`,
    value: `rounds: { ceiling: ${token('a value of the configuration', true)} }\n`,
    yaml: `lenses: [\n${awsKey('a configuration that is no YAML', true)}: { *${token('an alias of the configuration', true)}\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    const repository = await muster.repository(`canary-configuration-${name}`, { '.github/muster.yml': text })
    const pullRequest = await muster.open(repository, { 'src/c.ts': `export const configured_${name} = 1\n` })
    expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'incomplete' })
  }
}

/** Deliveries refused or knowingly ignored at the webhook, and unexpected deliveries. */
async function refusedDeliveries(): Promise<void> {
  const repository = { id: 1, owner: 'acme', name: 'nowhere' }
  const payload = (more: object = {}) => payloadOf({ repository, number: 1, head: 'a'.repeat(40), ...more })
  const withMember = (text: string) => JSON.stringify({ ...(JSON.parse(payload()) as object), sender: { token: text } })
  const status = async (sent: ReturnType<Muster['deliver']>) => (await sent).status

  const headers = { 'x-secret': word('a header'), authorization: `Bearer ${token('a header')}` }
  expect(
    await status(muster.deliver(withMember(word('a body')), { headers, signature: `sha256=${word('a signature')}` })),
  ).toBe(401)
  expect(await status(muster.deliver(payload(), { headers, signature: null }))).toBe(401)
  const closed = (text: string) => ({
    ...(JSON.parse(payload({ number: 99, action: 'closed' })) as object),
    token: text,
  })
  expect(await status(muster.deliver(JSON.stringify(closed(word('a body that is recorded'))), { headers }))).toBe(202)
  expect(await status(muster.deliver(`{"${word('a body that is no JSON')}": `))).toBe(400)
  expect(
    await status(
      muster.deliver(JSON.stringify({ [word('a payload of another shape')]: token('a payload of another shape') })),
    ),
  ).toBe(422)
  expect(await status(muster.deliver(payload({ updatedAt: word('a time that is none') })))).toBe(422)
  expect(await status(muster.deliver(payload({ head: word('a head that is none') })))).toBe(422)
  expect(await status(muster.deliver(payload({ action: token('an action') })))).toBe(202)
  expect(await status(muster.deliver(payload(), { contentType: `text/${token('a content type')}` }))).toBe(415)
  const parameter = `application/json; secret=${token('a parameter of the content type')}`
  expect(await status(muster.deliver(payload(), { contentType: parameter, signature: `sha256=${random(64)}` }))).toBe(
    401,
  )
  expect(await status(muster.deliver(payload(), { event: token('the name of an event') }))).toBe(400)
  expect(await status(muster.deliver(payload(), { id: token('an id of a delivery') }))).toBe(400)
  expect(
    await status(muster.deliver(JSON.stringify({ large: `${word('a large body')}${'x'.repeat(5_500_000)}` }))),
  ).toBe(413)
  for (const path of [`/runs/${word('an id of a run')}`, `/${word('a path')}`]) {
    expect((await fetch(muster.stack.apiUrl + path)).status).toBe(404)
  }
  const refusal = { __type: 'com.amazon.coral.validate#ValidationException', message: said('an error of the table') }
  const fault = muster.wire.refuse(action('PutItem'), { status: 400, body: refusal })
  expect(await status(muster.deliver(payload({ number: 98 })))).toBe(500)
  fault.lift()
}
