/** Every mutant. */
import type { Mutant } from '../mutant.ts'
import { lease } from './lease.ts'

export const mutants: readonly Mutant[] = [...lease]
