/** What a mutant is: one wrong change of the code, and who is to see it. */
import type { Change } from './change.ts'

export interface Mutant extends Change {
  /** Unique, in words: for the table and for `--only`. */
  readonly name: string
  /** What goes wrong with it, in a sentence. */
  readonly breaks: string
  /** Test files that drive the changed code directly, below the repository. */
  readonly tests: readonly string[]
  /** Files of scripted schedules, whose bundle has the change. */
  readonly schedules: readonly string[]
  /** Why nothing can see it: then it must survive, or the list is out of date. */
  readonly survives?: string
}

/** What most mutants of a file have in common. */
export type Group = Pick<Mutant, 'file' | 'tests' | 'schedules'>

/** Mutants of one file; each may name other judges than the group's. */
export function mutantsOf(group: Group, mutants: readonly (Omit<Mutant, keyof Group> & Partial<Group>)[]): Mutant[] {
  return mutants.map((mutant) => ({ ...group, ...mutant }))
}
