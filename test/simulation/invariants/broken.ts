/** An invariant that does not hold: which, in a sentence, and the facts that show it. */

/** I1–I9 of DESIGN §12; `halts`: nothing new under a halt (§7); `whole`: nothing is lost, nothing is doubled. */
export const invariantIds = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'halts', 'whole'] as const
export type InvariantId = (typeof invariantIds)[number]

export class InvariantBroken extends Error {
  readonly id: InvariantId
  readonly sentence: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(id: InvariantId, sentence: string, facts: Readonly<Record<string, unknown>>) {
    super(`${id}: ${sentence} ${JSON.stringify(facts)}`)
    this.name = 'InvariantBroken'
    this.id = id
    this.sentence = sentence
    this.facts = facts
  }
}

/** How an invariant says what it looked at and what it found. */
export interface Judge {
  /** Counted, so that a seed shows that it gave an invariant something to look at. */
  readonly looked: () => void
  /** Throws InvariantBroken unless `holds`; `facts` is asked only then. */
  readonly holds: (holds: boolean, sentence: string, facts: () => Readonly<Record<string, unknown>>) => asserts holds
}

export function judgeOf(id: InvariantId, counts: Record<InvariantId, number>): Judge {
  return {
    looked() {
      counts[id] += 1
    },
    holds(holds, sentence, facts) {
      if (!holds) throw new InvariantBroken(id, sentence, facts())
    },
  }
}
