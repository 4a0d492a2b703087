/** I9: a repeated delivery gets the first answer, and begins nothing anew. */
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import type { AnswerView, View } from './view.ts'

/** The meaning of a delivery, equal in all its answers: the run or the event that the delivery became. */
interface Meaning {
  readonly kind: 'run' | 'event' | 'ignored'
  readonly names: string
  readonly attempt: number
}

export function replaysInvariant(view: View, judge: Judge): Invariant {
  const first = new Map<string, Meaning>()
  let seen = 0

  function look(answer: AnswerView): void {
    const delivery = deliveryOf(answer)
    const before = first.get(delivery)
    const facts = () => ({ delivery, before, status: answer.status, body: answer.body })
    // A refusal would revoke an earlier acceptance; a timeout revokes nothing.
    if (answer.status >= 500) return
    if (answer.status >= 300) {
      judge.holds(before === undefined, 'A delivery was accepted first, and refused when it came again.', facts)
      return
    }
    const meaning = meaningOf(answer.body)
    if (!before) {
      first.set(delivery, meaning)
      return
    }
    judge.looked()
    const isSame = meaning.kind === before.kind && meaning.names === before.names
    judge.holds(isSame, 'A delivery that came again was answered otherwise.', facts)
    judge.holds(
      meaning.attempt >= before.attempt,
      'A delivery that came again was answered by an earlier attempt.',
      facts,
    )
  }

  return {
    watch: {
      run({ before, after }) {
        if (!before || !after) return
        const facts = () => ({ before, after })
        const isNew = (id: string) => !before.deliveries.includes(id)
        const news = after.deliveries.filter(isNew)
        const isSame = after.deliveries.join(' ') === before.deliveries.join(' ')
        judge.holds(isSame || news.length === 1, 'A run noted a delivery that it knew.', facts)
        const isBegunAnew = after.attempt > before.attempt && before.state === 'ended'
        judge.holds(!isBegunAnew || news.length === 1, 'A run began anew without anything new.', facts)
      },
    },
    afterStep() {
      for (; seen < view.answers.length; seen += 1) {
        const answer = view.answers[seen]
        if (answer) look(answer)
      }
    },
  }
}

function deliveryOf({ webhook: { headers } }: AnswerView): string {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-github-delivery')
  return found?.[1] ?? ''
}

function meaningOf(body: string): Meaning {
  const {
    run,
    event,
    reason,
    attempt = 0,
  } = JSON.parse(body) as {
    run?: string
    event?: string
    reason?: string
    attempt?: number
  }
  if (run !== undefined) return { kind: 'run', names: run, attempt }
  return event === undefined
    ? { kind: 'ignored', names: reason ?? '', attempt }
    : { kind: 'event', names: event, attempt }
}
