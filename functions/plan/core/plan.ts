/** Makes the plan of an attempt. Pure: the same facts give the same plan and the same key. */
import { digestOf } from '../../../shared/base/digest.ts'
import { CONTRACT, DESCRIPTION_BYTES_MAX, FILES_FETCHED_MAX, PART_LINES_MAX } from '../../../shared/base/limits.ts'
import { cutAtBytes } from '../../../shared/base/text.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import { LENS_NAMES, LENSES, type LensName, type PullRequestFacts } from '../../../shared/findings/lens.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { nextRound, type Thread } from '../../../shared/runs/thread.ts'
import { announcementsOf } from '../../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import type { Configuration, ConfigurationProblem } from '../../../shared/verdict/configuration.ts'
import { partitionDiff } from '../../../shared/verdict/partition.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'
import { carriedOutcomes, NOTHING_CARRIED } from './carried-outcomes.ts'

/** Everything that a plan depends on, besides the texts of files. */
export interface PlanFacts {
  readonly run: Run
  readonly thread: Thread
  readonly pullRequest: { readonly title: string; readonly body: string; readonly author: string }
  readonly baseSha: string
  readonly mergeBase: string
  readonly configuration: Configuration
  readonly configurationProblems: readonly ConfigurationProblem[]
  /** Digest of the configuration file's text; of `''` without a file. */
  readonly configurationDigest: string
  readonly template: string | undefined
  readonly files: readonly FileChange[]
  readonly filesCut: boolean
  /** The last conclusion of the thread. */
  readonly lastConclusion: Conclusion | undefined
  /** The model of the deployment; undefined without an endpoint. */
  readonly deploymentModel: { readonly model: string | undefined; readonly baseUrl: string } | undefined
  /** ms UTC */
  readonly now: number
}

/** Raised when reviews are posted in another way; part of the plan key. */
const POSTING_MODE = 'comment-v1'

/** The plan, still without texts. */
export function makePlan(facts: PlanFacts): Plan {
  const { run, thread, configuration, files, lastConclusion } = facts
  const model = modelOf(facts)
  const kindReason = kindReasonOf(facts, model)
  const kind = kindReason === undefined ? 'full' : 'analyzers'
  const { placed, notRead } = lensesOf(configuration, kindReason, model !== undefined)
  const { reviews, leftOut } = files.length === 0 ? { reviews: [], leftOut: [] } : partitionDiff(files, placed)
  const lastFullHead = lastFullHeadOf(lastConclusion)
  const atHead = lastConclusion?.head === run.head ? lastConclusion : undefined
  const carried = atHead && kind === 'analyzers' ? carriedOutcomes(atHead, { ...facts, placed }) : NOTHING_CARRIED
  return {
    contract: CONTRACT,
    runId: run.runId,
    planKey: planKeyOf(facts, kind, placed, model),
    repository: run.repository,
    pullRequest: pullRequestFacts(facts),
    head: run.head,
    baseSha: facts.baseSha,
    mergeBase: facts.mergeBase,
    kind,
    ...(kindReason ? { kindReason } : {}),
    ...(kind === 'analyzers' && lastFullHead !== undefined ? { lastFullHead } : {}),
    round: kind === 'full' ? nextRound(thread) : 0,
    configuration,
    configurationProblems: facts.configurationProblems,
    template: facts.template,
    files,
    leftOut: [...leftOut, ...carried.leftOut],
    filesCut: facts.filesCut,
    texts: {},
    reviews,
    notRead: notRead.filter(({ lens }) => !carried.lenses.some((outcome) => outcome.lens === lens)),
    openFindings: lastConclusion?.findings ?? [],
    ...(lastConclusion ? { openAtHead: lastConclusion.head } : {}),
    announcements: announcementsOf(lastConclusion),
    carried: carried.findings,
    carriedLenses: carried.lenses,
    carriedDispositions: atHead?.dispositions.filter(({ verb }) => verb !== 'still_present') ?? [],
    model,
    plannedAt: facts.now,
  }
}

/** Files whose text at the head the lenses of the plan may ask for, in the order of fetching; bounded. */
export function textsWanted(plan: Plan): { path: string; blob: string }[] {
  const byModel = new Set(plan.reviews.flatMap(({ lens, paths }) => (LENSES[lens].kind === 'model' ? paths : [])))
  const wanted = plan.files.filter(
    ({ path, status, noPatch }) =>
      status !== 'removed' && noPatch !== 'pure_rename' && (byModel.has(path) || isWorkflow(path)),
  )
  return wanted.slice(0, FILES_FETCHED_MAX).map(({ path, blob }) => ({ path, blob }))
}

/**
 * Why only the analyzers read. A head that was read in full under the same plan key stays a full run after later
 * events; an edit of the description gives no full run to a head after the last round (RO6).
 */
function kindReasonOf(facts: PlanFacts, model: Plan['model']): Plan['kindReason'] {
  const { run, thread, configuration, lastConclusion } = facts
  const isOver = thread.round >= configuration.rounds.ceiling
  if (run.kind === 'analyzers') {
    return isOver && lastFullHeadOf(lastConclusion) !== run.head ? 'rounds_ceiling' : 'text_edited'
  }
  if (!isOver) return undefined
  const { placed } = lensesOf(configuration, undefined, model !== undefined)
  return run.concludedPlanKey === planKeyOf(facts, 'full', placed, model) ? undefined : 'rounds_ceiling'
}

/** Active lenses of this run, and the active lenses left out with a reason for people. */
function lensesOf(configuration: Configuration, kindReason: Plan['kindReason'], hasModel: boolean) {
  const active = LENS_NAMES.filter((lens) => configuration.lenses[lens] === 'active')
  const placed = active.filter((lens) => LENSES[lens].kind === 'analyzer' || (kindReason === undefined && hasModel))
  const notRead = active
    .filter((lens) => !placed.includes(lens))
    .map((lens) => ({ lens, ...notReadReason(lens, kindReason, hasModel) }))
  return { placed, notRead }
}

function notReadReason(lens: LensName, kindReason: Plan['kindReason'], hasModel: boolean) {
  if (kindReason === 'rounds_ceiling') {
    return {
      reason: 'The rounds of this pull request are used up, so models read no further push.',
      remedy: 'A maintainer decides, or reopens the pull request to start a new series.',
    }
  }
  if (hasModel) {
    return {
      reason: 'The lens has not read this head, and an edit of the description starts no model.',
      remedy: 'Comment `/muster review` to run the lens.',
    }
  }
  return {
    reason: 'model_not_configured: no model is configured for the lens.',
    remedy: `Configure a model, or set \`lenses.${lens}: off\` in .github/muster.yml.`,
  }
}

/** The last head that was read in full. */
function lastFullHeadOf(last: Conclusion | undefined): string | undefined {
  return last?.kind === 'full' ? last.head : last?.lastFullHead
}

function modelOf({ configuration, deploymentModel }: PlanFacts): Plan['model'] {
  const model = configuration.models.default ?? deploymentModel?.model
  return deploymentModel && model !== undefined ? { model, baseUrl: deploymentModel.baseUrl } : undefined
}

/**
 * Digest of everything that changes what a review says, or by what authority; never of ceilings or times. The text of
 * the description counts only for a run that an edit of it has caused.
 */
function planKeyOf(facts: PlanFacts, kind: Plan['kind'], placed: readonly LensName[], model: Plan['model']): string {
  return digestOf({
    head: facts.run.head,
    mergeBase: facts.mergeBase,
    configuration: facts.configurationDigest,
    kind,
    lenses: placed.map((lens) => `${lens}@${LENSES[lens].version}`),
    model: model ? { ...model } : null,
    template: facts.template ?? null,
    text: facts.run.kind === 'analyzers' ? facts.run.cause : null,
    focus: facts.run.focus,
    posting: POSTING_MODE,
    budget: PART_LINES_MAX,
  })
}

function pullRequestFacts({ run, pullRequest }: PlanFacts): PullRequestFacts {
  const { text, cut } = cutAtBytes(pullRequest.body, DESCRIPTION_BYTES_MAX)
  const { owner, name } = run.repository
  return {
    repository: `${owner}/${name}`,
    number: run.number,
    title: pullRequest.title,
    body: text,
    bodyCut: cut,
    author: pullRequest.author,
    head: run.head,
    baseRef: run.baseRef,
    ...(run.focus === undefined ? {} : { focus: run.focus }),
  }
}

function isWorkflow(path: string): boolean {
  return /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path)
}
