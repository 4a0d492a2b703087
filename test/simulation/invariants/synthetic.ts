/**
 * A synthetic world for tests of invariants: a table to put items into, a GitHub of plain records, and a run without
 * faults.
 */
import type { CheckRun, IssueComment } from '../../../infra/local/github/records.ts'
import type { PullRequestSnapshot } from '../../../infra/local/github/snapshot.ts'
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Commit, PlainItem } from '../services/table.ts'
import type { AnswerView, ExecutionView, View } from './view.ts'

export const RUN = 'a'.repeat(64)
export const PLAN = 'b'.repeat(64)
export const HEAD = '1'.repeat(40)
export const NEWER = '2'.repeat(40)
export const FINGERPRINT = 'f'.repeat(64)
/** Request id of the invocation that holds the review's lease. */
export const WORKER = 'w1'
export const REVIEW_ID = `${RUN}/${PLAN}/correctness/0`
export const PULL = { repository: 'acme/widgets', repositoryId: 7, number: 1 }
export const REPOSITORY = { id: 7, owner: 'acme', name: 'widgets', installationId: 70 }
export const OURS = { login: 'muster[bot]', type: 'Bot' } as const
export const MARKER = `<!-- muster:v1 review ${RUN} ${PLAN} -->`

type Item = Record<string, unknown>
export type Pull = { -readonly [Member in keyof PullRequestSnapshot]: PullRequestSnapshot[Member] }

export interface Synthetic {
  /** The view for invariants. Tests may push to its lists. */
  readonly view: View
  readonly pull: Pull
  readonly writes: AcceptedWrite[]
  readonly answers: AnswerView[]
  readonly executions: ExecutionView[]
  readonly logs: string[]
  readonly documents: Map<string, string>
  readonly queues: { inbox: { id: string; body: string }[]; dead: { id: string; body: string }[] }
  readonly history: { cancels: { repositoryId: number; number: number }[]; canaries: string[]; crashLoop: boolean }
  /** ms UTC */
  now: number
  /** The invocation that commits. */
  invocation: string
  /** Puts items as one commit; an item with nothing but a key is deleted. */
  put(...items: Item[]): void
  /** Changes members of an item; undefined removes a member. */
  change(pk: string, sk: string, members: Item): void
  /** Stores a document under a plain name in place of a digest. */
  document(name: string, content: unknown): string
  /** GitHub takes a write. */
  wrote(write: Partial<AcceptedWrite> & Pick<AcceptedWrite, 'kind'>): void
}

export function syntheticWorld(): Synthetic {
  const rows = new Map<string, PlainItem>()
  const listeners: ((commit: Pick<Commit, 'changes'>) => void)[] = []
  const documents = new Map<string, string>()
  const writes: AcceptedWrite[] = []
  const answers: AnswerView[] = []
  const executions: ExecutionView[] = []
  const logs: string[] = []
  const queues: Synthetic['queues'] = { inbox: [], dead: [] }
  const history: Synthetic['history'] = { cancels: [], canaries: [], crashLoop: false }
  const pull = emptyPull()
  const id = (pk: unknown, sk: unknown) => `${pk} ${sk}`

  const world: Synthetic = {
    now: 1_000_000,
    invocation: WORKER,
    pull,
    writes,
    answers,
    executions,
    logs,
    documents,
    queues,
    history,
    view: {
      now: () => world.now,
      invocation: () => world.invocation,
      table: {
        onCommit: (look) => void listeners.push(look),
        items: (pk = '', sk = '') =>
          [...rows.values()].filter((item) => String(item.pk).startsWith(pk) && String(item.sk).startsWith(sk)),
        item: ({ pk, sk }) => rows.get(id(pk, sk)),
      },
      document: (digest) => documents.get(digest),
      github: { writes, pullRequest: () => pull, ourLogin: OURS.login },
      executions: () => executions,
      queues: { inbox: () => queues.inbox },
      deadLetters: () => queues.dead,
      answers,
      logs,
      history: {
        ...history,
        pulls: [PULL],
        get crashLoop() {
          return history.crashLoop
        },
      },
    },
    put(...items) {
      const changes = items.map((item) => {
        const { pk, sk, ...members } = item
        const before = rows.get(id(pk, sk))
        const after = Object.keys(members).length === 0 ? undefined : Object.freeze({ ...item })
        return { table: 'ledger', key: { pk, sk }, before, after }
      })
      for (const { key, after } of changes) {
        if (after) rows.set(id(key.pk, key.sk), after)
        else rows.delete(id(key.pk, key.sk))
      }
      for (const look of listeners) look({ changes })
    },
    change(pk, sk, members) {
      const merged = Object.entries({ ...rows.get(id(pk, sk)), ...members }).filter(([, value]) => value !== undefined)
      world.put({ pk, sk, ...Object.fromEntries(merged) })
    },
    document(name, content) {
      documents.set(name, JSON.stringify(content))
      return name
    },
    wrote(write) {
      writes.push({
        at: world.now,
        repository: PULL.repository,
        number: PULL.number,
        id: 1,
        head: HEAD,
        pull: { head: pull.head.sha, state: pull.state },
        sent: {},
        content: false,
        ...write,
      })
    },
  }
  return world
}

export const keys = {
  run: [`RUN#${RUN}`, 'RUN'],
  review: [`RUN#${RUN}`, `REVIEW#${PLAN}#correctness#0`],
  thread: ['PR#7#1', 'THREAD'],
  message: ['PR#7#1', `MESSAGE#${RUN}#${PLAN}#review`],
  shown: ['PR#7#1', 'SHOWN'],
  fleet: ['FLEET#main', 'FLEET'],
  ticket: ['QUEUE#7#lambda', `000000000000001#${REVIEW_ID}#1`],
  halts: ['HALT#main', 'HALT'],
} as const satisfies Record<string, readonly [string, string]>

export function item([pk, sk]: readonly [string, string], members: Item): Item {
  return { pk, sk, ...members }
}

export const LIMITS = { configured: 2, enabled: true }
export const run = {
  runId: RUN,
  repository: REPOSITORY,
  number: 1,
  kind: 'full',
  cause: `head:${HEAD}:main`,
  head: HEAD,
}
export const review = {
  runId: RUN,
  planKey: PLAN,
  lens: 'correctness',
  part: 0,
  repository: REPOSITORY,
  pool: 'lambda',
}
export const ticket = { reviewId: REVIEW_ID, epoch: 1, repository: 7, installation: 70, pool: 'lambda', turn: 1 }
export const slot = { epoch: 1, repository: 7, pool: 'lambda', since: 1 }
export const finding = {
  fingerprint: FINGERPRINT,
  lens: 'correctness',
  originHead: HEAD,
  title: 'Wrong',
  location: { kind: 'lines', inDiff: true },
}

/** The steps of a run without faults; each step begins where the step before has ended. */
export const steps = {
  accepted(world: Synthetic) {
    const accepted = { attempt: 1, state: 'accepted', deliveries: ['d1'], version: 1, dueAt: 1, duePk: 'DUE#0' }
    world.put(item(keys.run, { ...run, ...accepted }))
    world.answers.push(answer({ status: 'created', run: RUN, attempt: 1, state: 'accepted' }))
  },
  claimed(world: Synthetic) {
    const claimed = { head: HEAD, series: 1, round: 0, nextSequence: 1, version: 1 }
    world.put(
      item(keys.thread, { repositoryId: 7, number: 1, ...claimed, liveRun: { runId: RUN, attempt: 1 } }),
      item(keys.run, {
        ...run,
        attempt: 1,
        state: 'running',
        deliveries: ['d1'],
        version: 2,
        dueAt: 2,
        duePk: 'DUE#0',
      }),
      item(['PR#7#1', 'ENTRY#0000000000'], { kind: 'checkpoint', head: HEAD }),
    )
    const plan = { reviews: [{ lens: 'correctness', part: 0 }], openFindings: [], carried: [], carriedLenses: [] }
    world.change(...keys.run, { plan: world.document('plan', plan), planKey: PLAN, version: 3 })
  },
  waits(world: Synthetic) {
    world.put(
      item(keys.review, { ...review, attempt: 1, state: 'waiting', epoch: 1, token: 't', dueAt: 3, duePk: 'DUE#1' }),
    )
    world.put(item(keys.ticket, ticket))
    world.put(item(['FLEET#main', 'WAITING#7#lambda'], { nonce: 'n' }))
  },
  granted(world: Synthetic) {
    const fleet = { limits: LIMITS, slots: { [REVIEW_ID]: slot }, closed: {}, granted: 1, version: 1 }
    world.put(item(keys.fleet, { ...fleet, dueAt: 4, duePk: 'DUE#2' }))
    world.change(...keys.review, { state: 'granted', until: 5 })
    world.put({ pk: keys.ticket[0], sk: keys.ticket[1] })
    world.put({ pk: 'FLEET#main', sk: 'WAITING#7#lambda' })
  },
  leased(world: Synthetic) {
    world.change(...keys.review, { state: 'leased', owner: WORKER, until: 9, token: undefined })
    world.change(...keys.review, { until: 12 })
  },
  completed(world: Synthetic) {
    const result = { lens: 'correctness', part: 0, findings: [finding], rejected: [], coverage: [] }
    const done = { state: 'completed', result: world.document('result', result), findings: 1, blocking: 0 }
    world.change(...keys.review, { ...done, until: undefined, dueAt: undefined, duePk: undefined })
    world.change(...keys.fleet, { slots: {} })
    world.change(...keys.fleet, { dueAt: undefined, duePk: undefined })
  },
  concluded(world: Synthetic) {
    const lenses = [{ lens: 'correctness', state: 'read', findings: 1, rejected: 0 }]
    const outcome = { findings: [finding], announcedBefore: [], dispositions: [], rejected: [], merged: 0, lenses }
    const conclusion = world.document('conclusion', {
      ...outcome,
      runId: RUN,
      planKey: PLAN,
      head: HEAD,
      roundsCeiling: 3,
    })
    const message = { kind: 'review', marker: MARKER, head: HEAD, comments: [{ body: commentBody }] }
    world.put(
      item(keys.thread, {
        ...{ repositoryId: 7, number: 1, head: HEAD, series: 1, round: 0, nextSequence: 2, version: 2 },
        liveRun: { runId: RUN, attempt: 1 },
      }),
      item(keys.run, {
        ...{ ...run, attempt: 1, state: 'concluded', deliveries: ['d1'], version: 4, dueAt: 6, duePk: 'DUE#0' },
        ...{ plan: 'plan', planKey: PLAN, verdict: 'concerns', conclusion, token: 'c' },
      }),
      item(['PR#7#1', 'ENTRY#0000000001'], {
        kind: 'verdict',
        runId: RUN,
        head: HEAD,
        round: 1,
        series: 1,
        conclusion,
      }),
      item(keys.message, {
        ...{ repositoryId: 7, number: 1, runId: RUN, attempt: 1, planKey: PLAN, key: 'review', state: 'owed' },
        ...{
          document: world.document('message', message),
          series: 1,
          round: 1,
          leaseUntil: 0,
          dueAt: 7,
          duePk: 'DUE#3',
        },
      }),
      item(keys.shown, {
        repositoryId: 7,
        number: 1,
        version: 1,
        leaseUntil: 0,
        ...wanted(world),
        dueAt: 8,
        duePk: 'DUE#4',
      }),
    )
  },
  said(world: Synthetic) {
    world.pull.reviews = [reviewOn('COMMENTED', 31)]
    world.wrote({ kind: 'review_created', id: 31 })
    world.wrote({ kind: 'review_submitted', id: 31 })
    world.change(...keys.thread, { round: 1, version: 3 })
    world.change(...keys.message, { state: 'said', githubId: 31, dueAt: undefined, duePk: undefined })
  },
  shown(world: Synthetic) {
    world.pull.checkRuns = [{ headSha: HEAD, runs: [checkRun()] }]
    world.pull.issueComments = [summary(1)]
    world.pull.labels = ['muster: passed', 'a label of other people']
    world.wrote({ kind: 'check_run_created', number: undefined, pull: undefined, sent: { status: 'completed' } })
    world.wrote({ kind: 'comment_created', head: undefined, sent: { body: summaryBody } })
    const seen = { generation: 1, tried: 1 }
    const all = { shown_summary_main: seen, shown_label_main: seen, [`shown_check_run_${HEAD}`]: seen }
    world.change(...keys.shown, { ...all, dueAt: undefined, duePk: undefined })
  },
  ended(world: Synthetic) {
    const ended = { state: 'ended', outcome: 'reviewed', version: 5, token: undefined }
    world.change(...keys.run, { ...ended, dueAt: undefined, duePk: undefined })
    world.answers.push(answer({ status: 'replayed', run: RUN, attempt: 1, state: 'ended' }))
  },
} as const
export type Step = keyof typeof steps

/** Takes the run without faults as far as the step `until`: to its end by default. */
export function goOn(world: Synthetic, until: Step = 'ended', from: Step = 'accepted'): void {
  const names = Object.keys(steps) as Step[]
  for (const name of names.slice(names.indexOf(from), names.indexOf(until) + 1)) {
    world.now += 1_000
    steps[name](world)
  }
}

export const commentBody = `Wrong.\n<!-- muster:v1 finding ${FINGERPRINT} -->`
export const summaryBody = `All of it.\n<!-- muster:v1 data {"run":"${RUN}","head":"${HEAD}"} -->`

function wanted(world: Synthetic): Item {
  const checkRunWanted = { status: 'completed', conclusion: 'neutral', title: 'One', summary: 'Of it.' }
  const document = {
    check_run: world.document('check-run', { kind: 'check_run', ...checkRunWanted }),
    summary: world.document('summary', { kind: 'summary', body: summaryBody }),
    label: world.document('label', { kind: 'label', label: 'muster: passed' }),
  }
  const each = (kind: keyof typeof document, key: string) => ({
    [`wanted_${kind}_${key}`]: { kind, key, runId: RUN, document: document[kind] },
    [`generation_${kind}_${key}`]: 1,
  })
  return { ...each('check_run', HEAD), ...each('summary', 'main'), ...each('label', 'main') }
}

export function reviewOn(state: Pull['reviews'][number]['state'], id: number): Pull['reviews'][number] {
  const comment = { id: 1, reviewId: id, body: commentBody } as Pull['reviews'][number]['comments'][number]
  const pending = state === 'PENDING'
  const body = `Said.\n${MARKER}`
  return {
    id,
    author: OURS,
    body,
    state,
    pending,
    commitId: HEAD,
    submittedAt: pending ? null : 1,
    comments: [comment],
  }
}

export function checkRun(more: Partial<CheckRun> = {}): CheckRun {
  return {
    ...{
      id: 41,
      repositoryId: 7,
      name: 'Muster',
      headSha: HEAD,
      externalId: `muster:v1:7:1:${HEAD}`,
      detailsUrl: null,
    },
    ...{ status: 'completed', conclusion: 'neutral', startedAt: 1, completedAt: 2, title: 'One', summary: 'Of it.' },
    ...{ text: null, annotations: [] },
    ...more,
  } as CheckRun
}

export function summary(generation: number): IssueComment {
  const body = `${summaryBody}\n<!-- muster:v1 summary 7#1 ${generation} -->`
  return { id: 51, number: 1, author: OURS, body, createdAt: 1, updatedAt: 1 }
}

/** The answer to a delivery of the head; the delivery is `d1` by default. */
export function answer(body: object, status = 202, delivery = 'd1', head = HEAD): AnswerView {
  const payload = { action: 'opened', number: 1, repository: { id: 7 }, pull_request: { head: { sha: head } } }
  const headers = { 'X-GitHub-Delivery': delivery }
  return {
    webhook: { event: 'pull_request', action: 'opened', headers, body: JSON.stringify(payload) },
    status,
    body: JSON.stringify(body),
  }
}

function emptyPull(): Pull {
  return {
    ...{ id: 1, repositoryId: 7, number: 1, title: 'A change', body: null, author: { login: 'ana', type: 'User' } },
    ...{ state: 'open', draft: false, base: { ref: 'main', sha: '0'.repeat(40) }, head: { ref: 'change', sha: HEAD } },
    ...{ heads: [HEAD], labels: [], createdAt: 1, updatedAt: 1, closedAt: null, mergedAt: null },
    ...{ repository: PULL.repository, reviews: [], issueComments: [], checkRuns: [] },
  }
}
