/** Replies to comments. Pure; short, as each is read under a comment of one line. */

import { codeSpan, escapedMarkdown } from '../../../shared/base/text.ts'
import type { Halt } from '../../../shared/ledger/halt.ts'
import type { Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** Commands of other versions, answered as not available. */
const UNAVAILABLE_COMMANDS = ['restart', 'override', 'rebut', 'defer']

const COMMANDS = [
  ['review [sha] [focus…]', 'review the head; with a SHA, only if the head is that commit'],
  ['retry', 'complete an incomplete review; only missing parts are read'],
  ['cancel', 'end the running review'],
  ['pause [why…]', 'review nothing more in this repository'],
  ['resume', 'go on after a pause'],
  ['status', 'the status of this pull request’s review'],
  ['help', 'this list'],
] as const

const shaSpan = (sha: string) => codeSpan(sha.slice(0, 7))

export const replyTexts = {
  help: () =>
    [
      'Commands for people with write access, on the first line of a comment:',
      '',
      ...COMMANDS.map(([command, meaning]) => `- ${codeSpan(`/muster ${command}`)}: ${meaning}`),
    ].join('\n'),
  unknown: (word: string) =>
    UNAVAILABLE_COMMANDS.includes(word.toLowerCase())
      ? `${codeSpan(`/muster ${word}`)} is not available in this version of Muster. Nothing was done; ${codeSpan('/muster help')} lists the available commands.`
      : `There is no command ${codeSpan(word)}. Nothing was done; ${codeSpan('/muster help')} lists the commands.`,
  shortSha: (word: string) =>
    `${codeSpan(word)} looks like a SHA, but is too short: give at least seven characters. Nothing was done.`,
  notAllowed: () => 'Commands are for people with write access to this repository. Nothing was done.',
  headMismatch: (sha: string, head: string) =>
    `${codeSpan('head_mismatch')}: the head is ${codeSpan(head)}, not ${codeSpan(sha)}. Nothing was reviewed; name the head, or no SHA.`,
  closed: () => 'The pull request is closed. Reopen the pull request for a review.',
  started: (head: string) => `${shaSpan(head)} is being reviewed.`,
  again: (head: string) =>
    `${shaSpan(head)} is taken up again: results of the same configuration are shown again, and only missing parts are read.`,
  joined: ({ head, state }: Run) => {
    const hold = state === 'held' ? ' The review waits for the end of a halt.' : ''
    return `${shaSpan(head)} is being reviewed already; the command has joined that review, and no second review was started.${hold}`
  },
  focusComesLate: () => 'That review ignores your focus: ask again after its end.',
  haltStands: ({ scope }: Halt) =>
    `${codeSpan('halted')}: ${codeSpan(scope)} is halted; the review waits for the end of the halt.`,
  conflict: () =>
    `${codeSpan('idempotency_conflict')}: the same cause was recorded with another meaning. Nothing was done.`,
  cancelled: ({ head }: Run) =>
    `The review of ${shaSpan(head)} is cancelled. ${codeSpan('/muster retry')} takes the review up again.`,
  laterRun: ({ head }: Run) => `The review of ${shaSpan(head)} began after this late command, and was left alone.`,
  nothingAtWork: (run: Run | undefined) =>
    run?.outcome === 'cancelled' ? replyTexts.cancelled(run) : 'No review is at work here. Nothing was done.',
  nothingToRetry: (head: string) =>
    `The head ${shaSpan(head)} has no review to retry. ${codeSpan('/muster review')} starts a review.`,
  nothingMissing: ({ head }: Run) => `Nothing is missing: ${shaSpan(head)} was read as a whole.`,
  paused: () =>
    `Muster is paused in this repository: no new review is read or posted. ${codeSpan('/muster resume')} ends the pause.`,
  resumed: (wasPaused: boolean) =>
    wasPaused
      ? 'Muster goes on in this repository; held reviews are taken up within a minute.'
      : 'Muster was not paused in this repository.',
  haltedByOperator: () => 'An operator has halted Muster in this repository, and only an operator can lift the halt.',
} as const

/** The status of a pull request's review: run, lenses, rounds and halt. */
export function statusText(facts: {
  readonly head: string
  readonly run: Run | undefined
  readonly reviews: readonly Review[]
  readonly thread: Thread | undefined
  readonly halt: Halt | undefined
}): string {
  const { head, run, reviews, thread, halt } = facts
  return [
    run ? runLine(run) : `${shaSpan(head)} was not reviewed yet.`,
    ...(run && run.head !== head ? [`The head is ${shaSpan(head)}.`] : []),
    ...(thread ? [`Rounds so far: ${thread.round}.`] : []),
    ...(halt ? [`Halted (${codeSpan(halt.scope)}) since ${new Date(halt.since).toISOString()}.`] : []),
    ...(reviews.length > 0 ? ['', ...lensLines(reviews)] : []),
  ].join('\n')
}

function runLine({ head, state, attempt, outcome, verdict, reason }: Run): string {
  const verdictText = verdict ? `, ${verdict.replaceAll('_', ' ')}` : ''
  const reasonText = reason ? `: ${escapedMarkdown(reason.sentence)} (${codeSpan(reason.code)})` : ''
  return `Review of ${shaSpan(head)}, attempt ${attempt}: ${outcome ?? state}${verdictText}${reasonText}`
}

function lensLines(reviews: readonly Review[]): string[] {
  return [...Map.groupBy(reviews, ({ lens }) => lens)].map(([lens, parts]) => {
    const states = [...Map.groupBy(parts, ({ state }) => state)].map(([state, inState]) => `${inState.length} ${state}`)
    return `- ${lens}: ${states.join(', ')}`
  })
}
