/** What a person is answered in GitHub. Pure; short, because it is read under a comment of one line. */

import { codeSpan, escapedMarkdown } from '../../../shared/base/text.ts'
import type { Halt } from '../../../shared/ledger/halt.ts'
import type { Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** Commands of Muster that this version doesn't have: whoever has read of them is told so. */
const NOT_YET = ['restart', 'override', 'rebut', 'defer']

const COMMANDS = [
  ['review [sha] [focus…]', 'review the head; with a SHA only if it is that one'],
  ['retry', 'another attempt of a review that is not complete; only what is missing is read'],
  ['cancel', 'end the review that is at work'],
  ['pause [why…]', 'review nothing more in this repository'],
  ['resume', 'go on after a pause'],
  ['status', 'how the review of this pull request is'],
  ['help', 'this list'],
] as const

const short = (sha: string) => codeSpan(sha.slice(0, 7))

export const replyTexts = {
  help: () =>
    [
      'Commands, on the first line of a comment, by people with write access:',
      '',
      ...COMMANDS.map(([command, meaning]) => `- ${codeSpan(`/muster ${command}`)}: ${meaning}`),
    ].join('\n'),
  unknown: (word: string) =>
    NOT_YET.includes(word.toLowerCase())
      ? `${codeSpan(`/muster ${word}`)} is not available in this version of Muster. Nothing was done; ${codeSpan('/muster help')} lists what is.`
      : `There is no command ${codeSpan(word)}. Nothing was done; ${codeSpan('/muster help')} lists the commands.`,
  shortSha: (word: string) =>
    `${codeSpan(word)} is too short for a SHA, and looks like one: give seven characters or more. Nothing was done.`,
  notAllowed: () => 'Commands are for people with write access to this repository. Nothing was done.',
  headMismatch: (sha: string, head: string) =>
    `${codeSpan('head_mismatch')}: the head is ${codeSpan(head)}, not ${codeSpan(sha)}. Nothing was reviewed; name the head, or no SHA.`,
  closed: () => 'The pull request is closed. Reopen it to have it reviewed.',
  started: (head: string) => `${short(head)} is being reviewed.`,
  again: (head: string) =>
    `${short(head)} is taken up again: what was read under the same configuration is shown again, only what is missing is read.`,
  joined: ({ head, state }: Run) => {
    const waits = state === 'held' ? ' It waits until a halt is lifted.' : ''
    return `${short(head)} is being reviewed already, and this command has joined it; no second review was started.${waits}`
  },
  focusComesLate: () => 'It reads without the focus that you named: ask again when it is done.',
  haltStands: ({ scope }: Halt) =>
    `${codeSpan('halted')}: ${codeSpan(scope)} is halted, so the review waits until that is lifted.`,
  conflict: () => `${codeSpan('idempotency_conflict')}: this cause is known with another meaning. Nothing was done.`,
  cancelled: ({ head }: Run) =>
    `The review of ${short(head)} is cancelled. ${codeSpan('/muster retry')} takes it up again.`,
  laterRun: ({ head }: Run) =>
    `The review of ${short(head)} began after this command, which came late; it was left alone.`,
  nothingAtWork: (run: Run | undefined) =>
    run?.outcome === 'cancelled' ? replyTexts.cancelled(run) : 'No review is at work here. Nothing was done.',
  nothingToRetry: (head: string) =>
    `There is no review of the head ${short(head)} to go on with. ${codeSpan('/muster review')} starts one.`,
  nothingMissing: ({ head }: Run) => `Nothing is missing: ${short(head)} was read as a whole.`,
  paused: () =>
    `Muster is paused in this repository: nothing new is judged or posted. ${codeSpan('/muster resume')} goes on.`,
  resumed: (wasPaused: boolean) =>
    wasPaused
      ? 'Muster goes on in this repository; what was held is taken up within a minute.'
      : 'Muster was not paused in this repository.',
  haltedByOperator: () => 'An operator has halted Muster in this repository, and only an operator can lift that.',
} as const

/** How the review of a pull request is: its run, its lenses, its rounds, what stands in its way. */
export function statusText(facts: {
  readonly head: string
  readonly run: Run | undefined
  readonly reviews: readonly Review[]
  readonly thread: Thread | undefined
  readonly halt: Halt | undefined
}): string {
  const { head, run, reviews, thread, halt } = facts
  return [
    run ? runLine(run) : `${short(head)} was not reviewed yet.`,
    ...(run && run.head !== head ? [`The head is ${short(head)}.`] : []),
    ...(thread ? [`Rounds so far: ${thread.round}.`] : []),
    ...(halt ? [`Halted (${codeSpan(halt.scope)}) since ${new Date(halt.since).toISOString()}.`] : []),
    ...(reviews.length > 0 ? ['', ...lensLines(reviews)] : []),
  ].join('\n')
}

function runLine({ head, state, attempt, outcome, verdict, reason }: Run): string {
  const said = verdict ? `, ${verdict.replaceAll('_', ' ')}` : ''
  const why = reason ? `: ${escapedMarkdown(reason.sentence)} (${codeSpan(reason.code)})` : ''
  return `Review of ${short(head)}, attempt ${attempt}: ${outcome ?? state}${said}${why}`
}

function lensLines(reviews: readonly Review[]): string[] {
  return [...Map.groupBy(reviews, ({ lens }) => lens)].map(([lens, parts]) => {
    const states = [...Map.groupBy(parts, ({ state }) => state)].map(([state, some]) => `${some.length} ${state}`)
    return `- ${lens}: ${states.join(', ')}`
  })
}
