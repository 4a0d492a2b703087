/**
 * One conditional write of the fleet item: the difference of two fleets, under conditions on the facts behind the
 * decision.
 *
 * Limits and closings are rules: a change of rules needs the version as read, and every grant is refused after a change
 * of rules. Slots are written one by one. A grant needs room (the map's size), and a review without a slot; a release
 * needs the slot of its epoch. So grants of different reviews don't refuse each other while there is room for both, and
 * a release is never refused because the fleet is busy. Only where a repository or a pool has a ceiling of its own, a
 * grant also needs the number of grants as read, because the map's size doesn't tell these counts.
 */
import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { membersOf, only } from '../base/schema.ts'
import { effectiveOf } from '../fleet/ceiling.ts'
import { FLEET_AT_REST, type Fleet, fleetSchema, isCounted, type Slot } from '../fleet/schedule.ts'
import { type Item, itemAs } from './table.ts'

type FleetUpdate = Pick<
  UpdateCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/** The difference of two fleets. */
interface Difference {
  /** New slots, also in place of a slot of an earlier epoch. */
  readonly granted: readonly (readonly [reviewId: string, slot: Slot, replaces: number | undefined])[]
  readonly released: readonly (readonly [reviewId: string, epoch: number])[]
  readonly rules: boolean
}

/** The update from one fleet to the next; undefined for equal fleets. */
export function fleetUpdate(before: Fleet, next: Fleet, write: { writer: string; due: Item }): FleetUpdate | undefined {
  const { granted, released, rules } = differenceOf(before, next)
  const names: Record<string, string> = {}
  const values: Item = {}
  const name = (member: string, alias = member) => {
    names[`#${alias}`] = member
    return `#${alias}`
  }
  const value = (alias: string, content: unknown) => {
    values[`:${alias}`] = content
    return `:${alias}`
  }
  const slot = (reviewId: string, alias: string) => `${name('slots')}.${name(reviewId, alias)}`
  const set: string[] = []
  const remove: string[] = []
  const conditions: string[] = []

  if (rules) {
    const { limits, closed } = next
    const members = { limits, closed, version: before.version + 1, writer: write.writer }
    for (const [member, content] of Object.entries(members)) set.push(`${name(member)} = ${value(member, content)}`)
  }
  if (rules || granted.length > 0) conditions.push(`${name('version')} = ${value('before', before.version)}`)

  for (const [index, [reviewId, content, replaces]] of granted.entries()) {
    const path = slot(reviewId, `g${index}`)
    set.push(`${path} = ${value(`g${index}`, { ...content, by: write.writer })}`)
    conditions.push(
      replaces === undefined
        ? `attribute_not_exists(${path})`
        : `${path}.${name('epoch')} = ${value(`e${index}`, replaces)}`,
    )
  }
  for (const [index, [reviewId, epoch]] of released.entries()) {
    const path = slot(reviewId, `r${index}`)
    remove.push(path)
    conditions.push(`${path}.${name('epoch')} = ${value(`r${index}`, epoch)}`)
  }
  if (granted.length > 0) {
    const added = granted.filter(([, , replaces]) => replaces === undefined).length
    const room = effectiveOf(next.limits).effective - added + released.length
    conditions.push(`size(${name('slots')}) <= ${value('room', room)}`)
    set.push(
      `${name('granted')} = if_not_exists(${name('granted')}, ${value('none', 0)}) + ${value('grants', granted.length)}`,
    )
    const slots = granted.map(([, content]) => content)
    if (isCounted(next, slots)) conditions.push(`${name('granted')} = ${value('granted', before.granted)}`)
  }
  if (granted.length > 0 || Object.keys(next.closed).length > 0) {
    for (const [member, content] of Object.entries(write.due)) {
      set.push(`${name(member)} = if_not_exists(${name(member)}, ${value(member, content)})`)
    }
  }
  if (conditions.length === 0) return undefined
  const parts = [set.length > 0 ? `SET ${set.join(', ')}` : '', remove.length > 0 ? `REMOVE ${remove.join(', ')}` : '']
  return {
    UpdateExpression: parts.join(' ').trim(),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
}

/** Reads the fleet from its item; members that an earlier deployment did not write are those of a fleet at rest. */
export function fleetFrom(item: Item): Fleet {
  return only(itemAs(fleetSchema, { ...FLEET_AT_REST, ...item }), membersOf(fleetSchema.shape))
}

/** True if a refused write is done nevertheless: the SDK repeated it after a lost answer (AW32). */
export function isWritten(before: Fleet, next: Fleet, writer: string, item: Item): boolean {
  const { granted, released, rules } = differenceOf(before, next)
  const { slots } = fleetFrom(item)
  if (granted.length > 0) return granted.every(([reviewId]) => slots[reviewId]?.by === writer)
  if (rules) return item.writer === writer
  return released.every(([reviewId, epoch]) => slots[reviewId]?.epoch !== epoch)
}

function differenceOf(before: Fleet, next: Fleet): Difference {
  const granted = Object.entries(next.slots).flatMap(([reviewId, slot]) => {
    const had = before.slots[reviewId]
    return had?.epoch === slot.epoch ? [] : [[reviewId, slot, had?.epoch] as const]
  })
  const released = Object.entries(before.slots)
    .filter(([reviewId]) => next.slots[reviewId] === undefined)
    .map(([reviewId, { epoch }]) => [reviewId, epoch] as const)
  return { granted, released, rules: before.limits !== next.limits || before.closed !== next.closed }
}
