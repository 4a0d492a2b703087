/** People and operators: act at GitHub and through the API as the script says, and repair what they can at the end. */
import { createHmac } from 'node:crypto'
import { app } from '../app.ts'
import type { Sometimes } from '../counters.ts'
import type { Random } from '../kernel/random.ts'
import type { SimulatedWebhook } from '../services/github.ts'
import type { World } from '../world.ts'
import type { Lenses } from './lenses.ts'
import { type Action, type ActionKind, FILES, type Script } from './script.ts'

export interface People {
  /** Before all actions: adds repositories, and sets the fleet's limits. */
  begin(): Promise<void>
  act(action: Action): Promise<void>
  /** Lifts every halt, and redelivers each webhook without an accepted answer. True if nothing was left to do. */
  putRight(): boolean
  /** How each webhook is delivered: Weather's. */
  deliveriesOf(webhook: SimulatedWebhook): readonly number[]
  /** Deliveries without an answer. */
  readonly underWay: number
  readonly history: {
    readonly pulls: { repository: string; repositoryId: number; number: number }[]
    readonly cancels: { repositoryId: number; number: number }[]
    readonly canaries: string[]
    readonly crashLoop: boolean
  }
}

interface Pull {
  readonly repository: string
  readonly repositoryId: number
  number: number
  readonly heads: string[]
  /** ms UTC */
  readonly openedAt: number
  isOpen: boolean
}

/** The time of a webhook on its way to Muster, ms; below, the time of a late webhook. */
const DELIVERY_MS = { from: 50, to: 500 } as const
const LATE_MS = { from: 5_000, to: 60_000 } as const
/** The length of a disturbance, ms. */
const WINDOW_MS = [20_000, 60_000, 120_000] as const
/** ms for which GitHub shows an old state of a pull request: no longer than Muster waits for a head (PL8). */
const PULL_REQUEST_LAGS_MS = [3_000, 15_000, 60_000] as const
/** ms by which GitHub's lists are late: a few seconds (AW73). */
const LIST_LAGS_MS = [1_000, 4_000, 8_000] as const
/** A comment's text, as GitHub writes its webhook. */
const COMMENT_TEXT = /"body":"(\/muster [^"]*)"/
const MAINTAINER = 'maria'
const COMMANDS = ['review', 'cancel', 'retry', 'status', 'help', 'pause for lunch', 'resume', 'nonsense'] as const
const LISTS = [
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
] as const
const PULL_REQUEST = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'

export function openPeople(options: {
  readonly script: Script
  readonly random: Random
  readonly world: () => World
  readonly lenses: Lenses
  /** GitHub's next webhook is delivered late. */
  readonly delaysWebhook: () => boolean
  readonly saw: (what: Sometimes) => void
}): People {
  const { script, random, lenses, delaysWebhook, saw } = options
  const pulls: (Pull | undefined)[] = script.pulls.map(() => undefined)
  const repositoryIds: number[] = []
  const installations: number[] = []
  const webhooks: SimulatedWebhook[] = []
  const history: People['history'] = {
    pulls: [],
    cancels: [],
    canaries: [],
    crashLoop: (script.accident?.times ?? 1) > 1,
  }
  let deliveries = 0
  let asked = 0
  let changes = 0
  /** The special fate of the next webhook. */
  let next: 'twice' | 'late' | undefined

  const world = options.world
  const nameOf = (index: number) => `${script.repositories[index]?.owner}/${script.repositories[index]?.name}`

  async function begin(): Promise<void> {
    for (const [index, { configuration, ...place }] of script.repositories.entries()) {
      const files = { 'README.md': 'Widgets\n', 'src/a.ts': 'one\n', '.github/muster.yml': configuration }
      const added = await world().act(async (github) => {
        const repository = await github.addRepository({ ...place, files })
        github.setPermission(nameOf(index), MAINTAINER, 'write')
        return repository
      })
      repositoryIds.push(added.id)
      installations.push(added.installationId)
    }
    ask('PATCH /fleet/limits', {}, script.limits)
  }

  /** Lines of new text, now and then with a secret. */
  function someFiles(): Record<string, string> {
    changes += 1
    const lines = Array.from({ length: random.between(1, 4) }, (_, line) => `const change${changes}_${line} = ${line}`)
    if (random.chance(0.1)) {
      const canary = ['gh', 'p_', random.uuid().replaceAll('-', ''), 'abcd'].join('')
      history.canaries.push(canary)
      lines.push(`const token = '${canary}'`)
    }
    return { [random.pick(FILES)]: `one\n${lines.join('\n')}\n` }
  }

  async function open(index: number): Promise<void> {
    const at = script.pulls[index]?.repository ?? 0
    const repository = nameOf(at)
    const draft = random.chance(0.1)
    const { number, head } = await world().act((github) =>
      github.open({ repository, files: someFiles(), body: 'What it is for', draft }),
    )
    const repositoryId = repositoryIds[at] ?? 0
    pulls[index] = { repository, repositoryId, number, heads: [head], openedAt: world().timeline.now, isOpen: true }
    history.pulls.push({ repository, repositoryId, number })
  }

  async function push(pull: Pull): Promise<void> {
    const head = await world().act((github) => github.push(pull.repository, pull.number, someFiles()))
    pull.heads.push(head)
  }

  /** The actions by kind; each resolves with false if nothing was there to act on. */
  const actions: Record<ActionKind, (pull: Pull, choice: number) => Promise<boolean> | boolean> = {
    open: () => false,
    async push(pull) {
      await push(pull)
      return true
    },
    async push_twice(pull) {
      await push(pull)
      await push(pull)
      return true
    },
    async push_reordered(pull) {
      next = 'late'
      await push(pull)
      await push(pull)
      return true
    },
    async force_back(pull, choice) {
      const earlier = pull.heads[choice % pull.heads.length]
      if (earlier === undefined || earlier === pull.heads.at(-1)) return false
      await world().act((github) => github.pushHead(pull.repository, pull.number, earlier))
      pull.heads.push(earlier)
      return true
    },
    async edit(pull, choice) {
      const body = `What it is for, said in way ${choice % 3}`
      await world().act((github) => github.edit(pull.repository, pull.number, { body }))
      return true
    },
    close: (pull) => close(pull),
    reopen: (pull, choice) => reopen(pull, choice),
    async close_and_reopen(pull, choice) {
      return (await close(pull)) && reopen(pull, choice)
    },
    async draft(pull) {
      await world().act((github) => github.setDraft(pull.repository, pull.number))
      return true
    },
    async ready(pull) {
      await world().act((github) => github.markReady(pull.repository, pull.number))
      return true
    },
    redeliver(_pull, choice) {
      const webhook = webhooks[choice % Math.max(1, webhooks.length)]
      if (webhook) deliver(webhook, random.below(1_000))
      return webhook !== undefined
    },
    async deliver_twice(pull) {
      next = 'twice'
      await push(pull)
      return true
    },
    async command(pull, choice) {
      const command = COMMANDS[choice % COMMANDS.length]
      if (command === 'cancel') history.cancels.push({ repositoryId: pull.repositoryId, number: pull.number })
      await world().act(async (github) => {
        github.comment(pull.repository, pull.number, random.chance(0.9) ? MAINTAINER : 'passerby', `/muster ${command}`)
      })
      return true
    },
    comment_with_other_text(_pull, choice) {
      const comments = webhooks.filter(({ event, body }) => event === 'issue_comment' && COMMENT_TEXT.test(body))
      const comment = comments[choice % Math.max(1, comments.length)]
      if (comment) deliver(withOtherText(comment, random.uuid()), random.below(1_000))
      return comment !== undefined
    },
    halt(_pull, choice) {
      ask('PUT /halts/{scope+}', { scope: scopeOf(choice) }, { why: 'An incident' })
      return true
    },
    lift(_pull, choice) {
      const scopes = standingHalts()
      const scope = scopes[choice % Math.max(1, scopes.length)]
      if (scope !== undefined) ask('DELETE /halts/{scope+}', { scope })
      return scope !== undefined
    },
    cancel(_pull, choice) {
      const run = someRun(choice)
      if (!run) return false
      history.cancels.push({ repositoryId: run.repositoryId, number: run.number })
      ask('POST /runs/{runId}/cancel', { runId: run.runId })
      return true
    },
    retry(_pull, choice) {
      const run = someRun(choice)
      if (run) ask('POST /runs/{runId}/retry', { runId: run.runId })
      return run !== undefined
    },
    limits(_pull, choice) {
      const configured = (choice % 4) + 1
      const pools = random.chance(0.3) ? { pools: { lambda: { configured: random.pick([1, 2, null]) } } } : {}
      const perRepository = random.chance(0.3) ? { perRepository: random.pick([1, 2, 300, null]) } : {}
      ask('PATCH /fleet/limits', {}, { configured, ...pools, ...perRepository })
      return true
    },
    disable_concurrency() {
      ask('PATCH /fleet/limits', {}, { enabled: false })
      return true
    },
    enable_concurrency() {
      ask('PATCH /fleet/limits', {}, { enabled: true })
      return true
    },
    async throttle_model(pull) {
      lenses.throttle(random.pick(WINDOW_MS))
      // A review for the throttled model.
      await push(pull)
      return true
    },
    fail_lenses() {
      lenses.fail(random.pick(WINDOW_MS))
      return true
    },
    hang_lens() {
      lenses.hang()
      return true
    },
    lag_pull_request() {
      // GitHub never denies a pull request that it has shown: no replica lags behind the opening of any pull request.
      const youngestMs = world().timeline.now - Math.max(...pulls.map((pull) => pull?.openedAt ?? 0))
      const lagMs = Math.min(youngestMs, random.pick(PULL_REQUEST_LAGS_MS))
      world().github.lag({ route: PULL_REQUEST, lagMs, times: random.between(1, 20) })
      return true
    },
    lag_lists() {
      world().github.lag({ route: random.pick(LISTS), lagMs: random.pick(LIST_LAGS_MS), times: random.between(1, 20) })
      return true
    },
  }

  async function close(pull: Pull): Promise<boolean> {
    if (!pull.isOpen) return false
    await world().act((github) => github.closePullRequest(pull.repository, pull.number))
    pull.isOpen = false
    return true
  }

  async function reopen(pull: Pull, choice: number): Promise<boolean> {
    if (pull.isOpen) return false
    await world().act((github) => github.reopenPullRequest(pull.repository, pull.number))
    pull.isOpen = true
    if (choice % 3 === 0) await push(pull)
    return true
  }

  function scopeOf(choice: number): string {
    const at = choice % script.repositories.length
    return ['fleet', `installation/${installations[at]}`, `repository/${repositoryIds[at]}`][choice % 3] ?? 'fleet'
  }

  function standingHalts(): string[] {
    const item = world().table.item({ pk: 'HALT#main', sk: 'HALT' })
    return Object.keys((item?.scopes ?? {}) as object)
  }

  function someRun(choice: number): { runId: string; repositoryId: number; number: number } | undefined {
    const runs = world().table.items('RUN#', 'RUN')
    const run = runs[choice % Math.max(1, runs.length)]
    const repositoryId = (run?.repository as { id: number } | undefined)?.id ?? 0
    return run && { runId: String(run.runId), repositoryId, number: Number(run.number) }
  }

  /** Asks the API with API Gateway's payload, format 2.0. */
  function ask(routeKey: string, pathParameters: Readonly<Record<string, string>>, body?: object): void {
    asked += 1
    const userArn = 'arn:aws:sts::123456789012:assumed-role/operators/olga'
    const requestContext = { requestId: `asked-${asked}`, authorizer: { iam: { userArn } } }
    const request = {
      version: '2.0',
      routeKey,
      pathParameters,
      headers: {},
      body: JSON.stringify(body),
      requestContext,
    }
    world().functions.invoke('api', JSON.stringify(request), (end) => {
      if (end.kind === 'result' && end.json.includes('limit_above_ceiling')) saw('event: limits refused')
    })
  }

  function deliver(webhook: SimulatedWebhook, delayMs: number): void {
    deliveries += 1
    world().deliver(webhook, delayMs)
  }

  return {
    history,
    begin,
    async act({ kind, pull: index, choice }) {
      const pull = pulls[index]
      if (kind === 'open') await open(index)
      else if (!pull || !(await actions[kind](pull, choice))) return
      saw(`action: ${kind}`)
    },
    deliveriesOf(webhook) {
      webhooks.push(webhook)
      const delayMs = random.between(DELIVERY_MS.from, DELIVERY_MS.to)
      const how = next
      const isLate = how === 'late' || delaysWebhook()
      next = undefined
      const delays =
        how === 'twice' ? [delayMs, delayMs] : isLate ? [random.between(LATE_MS.from, LATE_MS.to)] : [delayMs]
      deliveries += delays.length
      return delays
    },
    get underWay() {
      return deliveries - world().answers.length
    },
    putRight() {
      const { answers } = world()
      const halts = standingHalts()
      for (const scope of halts) ask('DELETE /halts/{scope+}', { scope })
      if (deliveries > answers.length) return false
      const taken = new Set(answers.filter(({ status }) => status < 500).map(({ webhook }) => webhook))
      const missing = new Set(answers.map(({ webhook }) => webhook).filter((webhook) => !taken.has(webhook)))
      if (missing.size > 0) saw('event: delivery answered 5xx')
      for (const webhook of missing) deliver(webhook, random.between(DELIVERY_MS.from, DELIVERY_MS.to))
      return halts.length === 0 && missing.size === 0
    },
  }
}

/** The same comment once more, as another delivery, with another text (LE15). */
function withOtherText({ headers, body, ...webhook }: SimulatedWebhook, delivery: string): SimulatedWebhook {
  const changed = body.replace(COMMENT_TEXT, '"body":"$1 now"')
  const signature = createHmac('sha256', app.webhookSecret).update(changed).digest('hex')
  const names = Object.keys(headers)
  const nameOf = (wanted: string) => names.find((name) => name.toLowerCase() === wanted) ?? wanted
  return {
    ...webhook,
    body: changed,
    headers: {
      ...headers,
      [nameOf('x-github-delivery')]: delivery,
      [nameOf('x-hub-signature-256')]: `sha256=${signature}`,
    },
  }
}
