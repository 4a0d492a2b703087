/**
 * One cell of the matrix: an item to post, a fault of GitHub at one call, the moment of a poster's death, and the final
 * state.
 */
import type { FaultKind, InjectedFault } from '../../infra/local/github/faults.ts'
import { unreachable } from '../../shared/github/failures.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { checkRunIdentity } from '../../shared/publishing/check-run.ts'
import { LABELS } from '../../shared/publishing/github-payloads.ts'
import type { Around, PostWorld, Subject } from '../functions/post/world.ts'

/** `lag` is no fault of one call: all of GitHub's lists lag. */
export type Trouble = 'none' | 'lag' | FaultKind

export const TROUBLES = [
  'none',
  'secondary_403',
  'rate_429',
  'abuse_422',
  'server_500',
  'bad_gateway_502',
  'bad_gateway_after',
  'hang_after',
  'late',
  'truncated_json',
  'reset',
  'reset_after',
  'lag',
] as const satisfies readonly Trouble[]

/** The moment of the first poster's death: around the step's call, or after the next write to the ledger. */
export const KILLS = [
  'nobody dies',
  'dies before the call',
  'dies before it is recorded',
  'dies after it is recorded',
] as const
export type Kill = (typeof KILLS)[number]

type Kind = 'review' | 'check_run' | 'summary' | 'label'

/** A call that posts an item. */
export interface Step {
  readonly name: string
  readonly kind: Kind
  /** Of shared/github/github.ts. */
  readonly method: string
  readonly route: string
  /** True if an older generation stands on GitHub before. */
  readonly older: boolean
}

const REPO = '/repos/{owner}/{repo}'
const REVIEWS = `${REPO}/pulls/{pull_number}/reviews`
const ISSUE = `${REPO}/issues/{issue_number}`

export const STEPS: readonly Step[] = [
  { name: 'review: create', kind: 'review', method: 'createPendingReview', route: `POST ${REVIEWS}`, older: false },
  {
    name: 'review: submit',
    kind: 'review',
    method: 'submitReview',
    route: `POST ${REVIEWS}/{review_id}/events`,
    older: false,
  },
  {
    name: 'check run: create',
    kind: 'check_run',
    method: 'createCheckRun',
    route: `POST ${REPO}/check-runs`,
    older: false,
  },
  {
    name: 'check run: update',
    kind: 'check_run',
    method: 'updateCheckRun',
    route: `PATCH ${REPO}/check-runs/{check_run_id}`,
    older: true,
  },
  { name: 'summary: create', kind: 'summary', method: 'createComment', route: `POST ${ISSUE}/comments`, older: false },
  {
    name: 'summary: update',
    kind: 'summary',
    method: 'updateComment',
    route: `PATCH ${REPO}/issues/comments/{comment_id}`,
    older: true,
  },
  { name: 'label: add', kind: 'label', method: 'addLabel', route: `POST ${ISSUE}/labels`, older: true },
  { name: 'label: remove', kind: 'label', method: 'removeLabel', route: `DELETE ${ISSUE}/labels/{name}`, older: true },
]

/** More nudges than any item needs: five errors, the end of a lease, a recheck. */
const NUDGES_MAX = 40
/** Distance from the cell before, beyond its budget and GitHub's windows, ms. */
const APART_MS = 3_700_000

export interface CellOptions {
  readonly step: Step
  readonly trouble: Trouble
  readonly kill: Kill
  /** A hook around every poster's calls that makes the judge see a fault. */
  readonly sabotage?: NonNullable<Around['github']>
}

/**
 * The result of a cell: `once`, or `once, …` with a remainder that GitHub can't undo; anything else names the fault.
 * `lag` needs a world whose lists lag, every other trouble a world whose lists don't.
 */
export async function runCell(world: PostWorld, { step, trouble, kill, sabotage }: CellOptions): Promise<string> {
  world.local.now += APART_MS
  const subject = await world.subject(step.name)
  if (step.older) {
    await owe(world, subject, step.kind, 'older')
    await untilNothingIsDue(world, subject, () => world.post(subject))
  }
  await owe(world, subject, step.kind, 'newer')

  const failing =
    trouble === 'none' || trouble === 'lag' ? undefined : world.standIn.fail({ route: step.route, kind: trouble })
  try {
    const first = poster(step, trouble, failing, kill, sabotage)
    await Promise.race([world.post(subject, first.around), first.dead])
    if (kill !== 'nobody dies' && !first.died()) return 'nobody died: the kill point was not reached'
    let held = trouble === 'late'
    const rested = await untilNothingIsDue(world, subject, async () => {
      const next = poster(step, trouble, failing, 'nobody dies', sabotage)
      await world.post(subject, next.around)
      if (!held || failing?.struck !== 1 || !(await isSettled(world, subject, step.kind))) return
      held = false
      await landed(world, failing)
    })
    if (!rested) return 'it does not come to rest'
    if (failing !== undefined && failing.struck !== 1) return 'the fault did not strike'
    if (held) return 'what was late did not land'
    const run = await readRun(world.local.ledger, subject.run.runId)
    if (run?.outcome !== 'reviewed') return `the run is ${run?.state}, ${run?.outcome}`
    return await judged(world, subject, step.kind)
  } finally {
    failing?.end()
  }
}

/** A poster that dies at its moment: its call never returns. */
function poster(
  step: Step,
  trouble: Trouble,
  failing: InjectedFault | undefined,
  kill: Kill,
  sabotage: CellOptions['sabotage'],
) {
  const death = Promise.withResolvers<void>()
  let died = false
  let called = false
  const die = () => {
    died = true
    death.resolve()
    return new Promise<never>(() => {})
  }
  const unheard = trouble === 'hang_after' || trouble === 'late'
  /** The client's deadline passes as soon as GitHub has the call without an answer. */
  const givenUp = async (): Promise<never> => {
    await failing?.spent
    throw unreachable({ route: step.route, writes: true }, 'not in time')
  }
  const around: Around = {
    async github(method, call) {
      const asked = sabotage === undefined ? call : () => sabotage(method, call)
      if (method !== step.method || called) return asked()
      if (kill === 'dies before the call') return die()
      called = true
      const [outcome] = await Promise.allSettled([unheard ? Promise.race([asked(), givenUp()]) : asked()])
      if (kill === 'dies before it is recorded') return die()
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    },
    async recorded() {
      if (called && kill === 'dies after it is recorded' && !died) await die()
    },
  }
  return { around, dead: death.promise, died: () => died }
}

/** Nudges as the sweeper does, at each due time. False without an end. */
async function untilNothingIsDue(world: PostWorld, subject: Subject, nudge: () => Promise<void>): Promise<boolean> {
  for (let nudges = 0; nudges < NUDGES_MAX; nudges += 1) {
    const dueAt = await world.dueAt(subject)
    if (dueAt === undefined) return true
    world.local.now = Math.max(world.local.now, dueAt)
    await nudge()
  }
  return false
}

/** Lets a held request happen now, after everything was posted. */
async function landed(world: PostWorld, failing: InjectedFault): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.standIn.observe(({ fault }) => {
    if (fault === 'late') resolve()
  })
  failing.release()
  await promise
}

async function owe(world: PostWorld, subject: Subject, kind: Kind, what: 'older' | 'newer'): Promise<void> {
  switch (kind) {
    case 'review':
      await world.owe(subject)
      return
    case 'check_run':
      return world.raise(subject, world.checkRun(subject, what))
    case 'summary':
      return world.raise(subject, { kind, body: what })
    case 'label':
      return world.raise(subject, { kind, label: what === 'older' ? LABELS[0] : LABELS[2] })
  }
}

async function isSettled(world: PostWorld, subject: Subject, kind: Kind): Promise<boolean> {
  if (kind === 'review') return (await world.message(subject))?.state === 'said'
  const resource = await world.resource(subject, kind)
  return resource !== undefined && resource.shownGeneration === resource.generation
}

async function judged(world: PostWorld, subject: Subject, kind: Kind): Promise<string> {
  const seen = world.seen(subject)
  switch (kind) {
    case 'review': {
      const message = await world.message(subject)
      const said = seen.reviews.filter(({ pending, body }) => !pending && body.split('\n').includes(subject.marker))
      const pending = seen.reviews.length - said.length
      if (pending > 0) return `${pending} pending left`
      if (said.length !== 1) return `said ${said.length} times`
      if (said[0]?.comments.length !== 2) return `${said[0]?.comments.length} of 2 comments`
      if (message?.state !== 'said') return `said, but the message is ${message?.state}`
      return (await world.round(subject)) === 1 ? 'once' : 'said, but not counted'
    }
    case 'check_run': {
      const { externalId } = checkRunIdentity(subject.run)
      const runs = seen.checkRuns.flatMap((head) => head.runs).filter((run) => run.externalId === externalId)
      const open = runs.filter(({ status }) => status !== 'completed')
      const shown = runs.filter(({ title }) => title === 'newer')
      if (open.length > 0) return `${open.length} not completed`
      if (shown.length !== 1) return `shown ${shown.length} times`
      // GitHub can't delete a check run: a late copy is closed and points at the counting check run.
      return runs.length === 1 ? 'once' : `once, ${runs.length - 1} closed copy`
    }
    case 'summary': {
      const bodies = seen.issueComments.map(({ body }) => body.split('\n')[0])
      return bodies.length === 1 && bodies[0] === 'newer' ? 'once' : `shown: ${bodies.join(', ') || 'none'}`
    }
    case 'label': {
      const own = seen.labels.filter((label) => LABELS.some((one) => one === label))
      return own.length === 1 && own[0] === LABELS[2] ? 'once' : `shown: ${own.join(', ') || 'none'}`
    }
  }
}
