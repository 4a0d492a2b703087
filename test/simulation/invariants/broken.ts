/** The breach of an invariant: the id, a sentence, and the facts as proof. */

/** I1–I9 as in docs/coordinator.md; `halts`: nothing new under a halt; `whole`: nothing is lost, nothing is doubled. */
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

/** An invariant reports its looks and its breaches to a judge. */
export interface Judge {
  /** Counts a look, as proof that a seed gave the invariant something to judge. */
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
