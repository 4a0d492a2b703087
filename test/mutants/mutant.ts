/** A mutant is one wrong change of the code, with the tests and schedules that must see the change. */
import type { Change } from './change.ts'

export interface Mutant extends Change {
  /** Unique, in words: for the table and for `--only`. */
  readonly name: string
  /** The consequence of the change, in one sentence. */
  readonly breaks: string
  /** Test files that drive the changed code directly, relative to the repository. */
  readonly tests: readonly string[]
  /** Files of scripted schedules, whose bundle has the change. */
  readonly schedules: readonly string[]
  /** The reason why no judge can see the change: such a mutant must survive, or the list is out of date. */
  readonly survives?: string
}

/** The common part of most mutants of a file. */
export type Group = Pick<Mutant, 'file' | 'tests' | 'schedules'>

/** Mutants of one file; each mutant may name other judges than the group. */
export function mutantsOf(group: Group, mutants: readonly (Omit<Mutant, keyof Group> & Partial<Group>)[]): Mutant[] {
  return mutants.map((mutant) => ({ ...group, ...mutant }))
}
