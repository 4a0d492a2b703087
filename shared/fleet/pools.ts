/** Pools: beside a slot, a review competes in a pool, one for each model and one for reviews without a model. Pure. */

import { sha256 } from '../base/digest.ts'
import { POOL_DIGEST_CHARS, POOL_NAME_CHARS_MAX } from '../base/limits.ts'
import { LENSES } from '../findings/lens.ts'
import type { ReviewLens } from '../runs/review.ts'
import type { Plan } from '../verdict/plan.ts'
import type { PoolName } from './ceiling.ts'

/** The pool of analyzers, and of every other review without a model. */
export const POOL_WITHOUT_MODEL: PoolName = 'lambda'

const MODEL_PREFIX = 'model/'

/**
 * The pool of a model: `model/<name>`, safe in keys, and written by operators in limits. A name with non-ASCII or unprintable
 * characters, with `#`, or too long is replaced or cut, with a digest at its end: no two models share a pool.
 */
export function poolOfModel(model: string): PoolName {
  const charsMax = POOL_NAME_CHARS_MAX - MODEL_PREFIX.length
  const safe = model.replace(/[^\x21-\x7e]|#/g, '-')
  if (safe === model && model.length > 0 && model.length <= charsMax) return `${MODEL_PREFIX}${model}`
  const digest = sha256(model).slice(0, POOL_DIGEST_CHARS)
  return `${MODEL_PREFIX}${safe.slice(0, charsMax - POOL_DIGEST_CHARS - 1)}-${digest}`
}

/** The model's name for people; undefined if the pool is not a model's. */
export function modelOfPool(pool: string): string | undefined {
  return pool.startsWith(MODEL_PREFIX) ? pool.slice(MODEL_PREFIX.length) : undefined
}

/** The pools of a plan's lenses with a model. Every other review, and an adjudication without a model, has none. */
export function poolsOf({ reviews, model }: Pick<Plan, 'reviews' | 'model'>): Readonly<Record<string, PoolName>> {
  if (!model) return {}
  const lenses = reviews.map(({ lens }) => lens).filter((lens) => LENSES[lens].kind === 'model')
  return Object.fromEntries(lenses.map((lens) => [lens, poolOfModel(model.model)]))
}

/** The pool of a run's review; a run planned by an older version has only the pool without a model, which is never closed. */
export function poolOf(run: { readonly pools?: Readonly<Record<string, string>> }, lens: ReviewLens): string {
  return run.pools?.[lens] ?? POOL_WITHOUT_MODEL
}
