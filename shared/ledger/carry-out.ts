/** Carries out a step of a review's lease, and names the outcome, also after a lost answer. */
import * as z from 'zod'
import { isFailure, nameOf, Retry } from '../base/errors.ts'
import { AWS_RETRY_AFTER_MS } from '../base/limits.ts'
import { after, type LeaseItem, type LeaseStep, type Refusal } from '../fleet/lease.ts'
import { type ReviewName, reviewSchema } from '../runs/review.ts'
import { change, contended, contentAs, due, type Item, type Key, keyOf, type Ledger, readItem } from './table.ts'

export type CarriedOut =
  /** `repeated`: the item showed it already; by our own lost try or by an earlier call is the same (I9). */
  | { readonly kind: 'done'; readonly item: LeaseItem; readonly repeated: boolean }
  | { readonly kind: 'refused'; readonly code: Refusal }

/**
 * Writes the step that `stepOn` makes of the item as last seen; the item is undefined at first. An error at the wire is
 * no refusal: the item is read back, and the write is repeated until the item shows the write. Throws Retry `busy` with
 * `outcomeUnknown` if the item can't be read either.
 */
export async function carryOut(
  ledger: Ledger,
  name: ReviewName,
  stepOn: (seen: LeaseItem | undefined) => LeaseStep,
  signal?: AbortSignal,
): Promise<CarriedOut> {
  const key = keyOf.review(name)
  let seen: LeaseItem | undefined
  return contended(async () => {
    const step = stepOn(seen)
    const { written, item } = await writeOrLook(ledger, key, step, signal)
    if (written && item) return { kind: 'done', item: after(item, step), repeated: false }
    const answered = step.answerOf(item)
    if (answered.kind === 'refused') return answered
    if (answered.kind === 'done' && item) return { kind: 'done', item, repeated: true }
    seen = item
    return 'again'
  })
}

/** The item before a successful write, the item that refused the write, or the item read after a lost answer. */
async function writeOrLook(
  ledger: Ledger,
  key: Key,
  step: LeaseStep,
  signal: AbortSignal | undefined,
): Promise<{ written: boolean; item: LeaseItem | undefined }> {
  try {
    const answer = await change(ledger, key, changeOf(key, step), signal)
    const item = answer.done ? answer.before : answer.item
    return { written: answer.done, item: item && leaseItemFrom(item) }
  } catch (error) {
    if (!isUnanswered(error)) throw error
    const item = await readItem(ledger, key, signal).catch((cause: unknown) => {
      throw new Retry('busy', 'A lease was written and not answered, and could not be read.', AWS_RETRY_AFTER_MS, {
        cause,
        outcomeUnknown: true,
      })
    })
    return { written: false, item: item && leaseItemFrom(item) }
  }
}

function changeOf(key: Key, { set, remove, recheckAt, if: condition }: LeaseStep) {
  return {
    set: { ...set, ...(typeof recheckAt === 'number' ? due(key, recheckAt) : {}) },
    remove: [...remove, ...(recheckAt === 'never' ? ['duePk', 'dueAt'] : [])],
    if: condition,
  }
}

const leaseItemSchema = reviewSchema.extend({ writer: z.string().exactOptional() })

/** Reads a review and its writer from an item. */
export function leaseItemFrom(item: Item): LeaseItem {
  return contentAs(leaseItemSchema, item)
}

/** True for an error after which the write may have happened: no usable answer came, or the caller stopped waiting. */
function isUnanswered(error: unknown): boolean {
  return isFailure(error, 'retry') || nameOf(error) === 'AbortError' || nameOf(error) === 'TimeoutError'
}
