/** Makes the plan of an attempt from everything that was read. Pure: the same facts give the same plan and the same key. */

import { digestOf } from '../../../shared/base/digest.ts'
import { CONTRACT, DESCRIPTION_BYTES_MAX, FILES_FETCHED_MAX, PART_LINES_MAX } from '../../../shared/base/limits.ts'
import { cutAtBytes } from '../../../shared/base/text.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import { LENS_NAMES, LENSES, type LensName, type PullRequestFacts } from '../../../shared/findings/lens.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { nextRound, type Thread } from '../../../shared/runs/thread.ts'
import { announcementsOf } from '../../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import type { Configuration, ConfigurationProblem } from '../../../shared/verdict/config.ts'
import { partitionDiff } from '../../../shared/verdict/partition.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'
import { carriedOutcomes, NOTHING_CARRIED } from './carried-outcomes.ts'

/** What was read for a plan, besides the texts of files. */
export interface PlanFacts {
  readonly run: Run
  readonly thread: Thread
  readonly pullRequest: { readonly title: string; readonly body: string; readonly author: string }
  readonly baseSha: string
  readonly mergeBase: string
  readonly configuration: Configuration
  readonly configurationProblems: readonly ConfigurationProblem[]
  /** Digest of the configuration file's text; of `''` where there is none. */
  readonly configurationDigest: string
  readonly template: string | undefined
  readonly files: readonly FileChange[]
  readonly filesCut: boolean
  /** The thread's last conclusion, if it has one. */
  readonly lastConclusion: Conclusion | undefined
  /** What the deployment offers; undefined without an endpoint. */
  readonly deploymentModel: { readonly model: string | undefined; readonly baseUrl: string } | undefined
  /** ms UTC */
  readonly now: number
}

/** Raised when the way in which a review is posted changes; part of the plan key. */
const POSTING_MODE = 'comment-v1'

/** The plan, with no texts yet. */
export function makePlan(facts: PlanFacts): Plan {
  const { run, thread, configuration } = facts
  const model = modelOf(facts)
  const kindReason = kindReasonOf(facts, model)
  const kind = kindReason === undefined ? 'full' : 'analyzers'
  const { placed, notRead } = lensesOf(configuration, kindReason, model !== undefined)
  const { reviews, leftOut } =
    facts.files.length === 0 ? { reviews: [], leftOut: [] } : partitionDiff(facts.files, placed)
  const lastFullHead = lastFullHeadOf(facts.lastConclusion)
  const sameHeadConclusion = facts.lastConclusion?.head === run.head ? facts.lastConclusion : undefined
  const carried =
    sameHeadConclusion && kind === 'analyzers'
      ? carriedOutcomes(sameHeadConclusion, { ...facts, placed })
      : NOTHING_CARRIED
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
    files: facts.files,
    leftOut: [...leftOut, ...carried.leftOut],
    filesCut: facts.filesCut,
    texts: {},
    reviews,
    notRead: notRead.filter(({ lens }) => !carried.lenses.some((outcome) => outcome.lens === lens)),
    openFindings: facts.lastConclusion?.findings ?? [],
    ...(facts.lastConclusion ? { openAtHead: facts.lastConclusion.head } : {}),
    announcements: announcementsOf(facts.lastConclusion),
    carried: carried.findings,
    carriedLenses: carried.lenses,
    carriedDispositions: sameHeadConclusion?.dispositions.filter(({ verb }) => verb !== 'still_present') ?? [],
    model,
    plannedAt: facts.now,
  }
}

/** Paths whose text at the head the plan's lenses may ask for, in the order in which they are fetched; bounded. */
export function textsWanted(plan: Plan): { path: string; blob: string }[] {
  const byModel = new Set(plan.reviews.flatMap(({ lens, paths }) => (LENSES[lens].kind === 'model' ? paths : [])))
  const wanted = plan.files.filter(
    ({ path, status, noPatch }) =>
      status !== 'removed' && noPatch !== 'pure_rename' && (byModel.has(path) || isWorkflow(path)),
  )
  return wanted.slice(0, FILES_FETCHED_MAX).map(({ path, blob }) => ({ path, blob }))
}

/**
 * Why this run is of analyzers only. A head that was read in full under the same plan key keeps that, whatever came since;
 * one that came after the last round gets nothing by an edit of the description (RO6).
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

/** Active lenses that this run places, and those that it doesn't with the reason for people. */
function lensesOf(configuration: Configuration, kindReason: Plan['kindReason'], hasModel: boolean) {
  const active = LENS_NAMES.filter((lens) => configuration.lenses[lens] === 'active')
  const placed = active.filter((lens) => LENSES[lens].kind === 'analyzer' || (kindReason === undefined && hasModel))
  const notRead = active
    .filter((lens) => !placed.includes(lens))
    .map((lens) => ({ lens, ...whyNotRead(lens, kindReason, hasModel) }))
  return { placed, notRead }
}

function whyNotRead(lens: LensName, kindReason: Plan['kindReason'], hasModel: boolean) {
  if (kindReason === 'rounds_ceiling') {
    return {
      reason: 'The rounds of this pull request are used up, so models read no further push.',
      remedy: 'A maintainer decides, or reopens the pull request to start a new series.',
    }
  }
  if (hasModel) {
    return {
      reason: 'It has not read this head, and an edited description alone does not ask it to.',
      remedy: 'Comment `/muster review` to have it read.',
    }
  }
  return {
    reason: 'model_not_configured: no model is configured for it.',
    remedy: `Configure a model, or set \`lenses.${lens}: off\` in .github/muster.yml.`,
  }
}

/** The head that was last read in full: this thread's last conclusion knows it, or is it. */
function lastFullHeadOf(last: Conclusion | undefined): string | undefined {
  return last?.kind === 'full' ? last.head : last?.lastFullHead
}

function modelOf({ configuration, deploymentModel }: PlanFacts): Plan['model'] {
  const model = configuration.models.default ?? deploymentModel?.model
  return deploymentModel && model !== undefined ? { model, baseUrl: deploymentModel.baseUrl } : undefined
}

/**
 * Digest of everything that changes what is said, or by what authority; never ceilings or times (DESIGN §4). The
 * description's text counts where reading it is the run's cause; for a head, an edit of it is a run of its own.
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
