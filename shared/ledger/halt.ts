/** Halts: for the fleet, an installation or a repository. While one stands nothing new is judged or posted (DESIGN §7). */
import type { Repository } from '../run.ts'
import { type Item, keyOf, type Ledger, read } from './table.ts'

export interface Halt {
  readonly scope: string
  readonly by: string
  readonly why: string
  /** ms UTC */
  readonly since: number
}

/** The scopes whose halt stops work on a repository. */
export function haltScopesOf(repository: Pick<Repository, 'id' | 'installationId'>): string[] {
  return ['fleet', `installation/${repository.installationId}`, `repository/${repository.id}`]
}

/** The first halt that stands for this repository, read consistently; undefined if none does. */
export async function standingHalt(
  ledger: Ledger,
  repository: Pick<Repository, 'id' | 'installationId'>,
): Promise<Halt | undefined> {
  const items = await Promise.all(haltScopesOf(repository).map((scope) => read<Item>(ledger, keyOf.halt(scope))))
  return items.find((item) => item !== undefined) as Halt | undefined
}
