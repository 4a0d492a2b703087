/** I8, the other items: no counter falls, no ended item changes, and a change shows in the version. */
import type { PlainItem } from '../services/table.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import type { Change, EventItem, FleetItem, HaltsItem, MessageItem, ResourcesItem, RunItem } from './items.ts'
import type { View } from './view.ts'

/** Within an attempt a run never falls to a lower rank. */
const RANKS: Readonly<Record<RunItem['state'], number>> = {
  accepted: 0,
  running: 1,
  held: 1,
  concluded: 2,
  ending: 3,
  ended: 4,
}

/** The steps of a message; only another attempt makes a settled message `owed` again. */
const MESSAGE_STEPS: Readonly<Record<MessageItem['state'], readonly MessageItem['state'][]>> = {
  owed: ['owed', 'said', 'withdrawing', 'failed'],
  withdrawing: ['withdrawing', 'said', 'withdrawn', 'failed'],
  withdrawn: ['withdrawn', 'said'],
  failed: ['failed', 'said'],
  said: ['said'],
}

/** Members that the sweeper moves on without a decision. */
const DUE = ['dueAt', 'duePk'] as const

export function monotoneInvariant(_view: View, judge: Judge): Invariant {
  return {
    watch: {
      run: runMoved,
      message: messageMoved,
      event: eventMoved,
      resources: raised,
      fleet: fleetMoved,
      halts: haltsMoved,
    },
  }

  function runMoved({ before, after }: Change<RunItem>): void {
    judge.looked()
    const facts = () => ({ before, after })
    judge.holds(after !== undefined, 'A run was deleted.', facts)
    if (!before) {
      judge.holds(after.state === 'accepted' && after.attempt === 1, 'A run began other than accepted.', facts)
      return
    }
    const isUnchanged = after.version === before.version && isSame(before, after, DUE)
    judge.holds(isUnchanged || after.version > before.version, 'A run changed without its version.', facts)
    if (isUnchanged) return
    if (after.attempt === before.attempt) {
      judge.holds(before.state !== 'ended', 'A run changed after it had ended.', facts)
      judge.holds(RANKS[after.state] >= RANKS[before.state], 'A run went back within its attempt.', facts)
      judge.holds(before.conclusion === undefined || after.conclusion !== undefined, 'A conclusion was lost.', facts)
      return
    }
    const wasOver = before.state === 'ended' || before.state === 'held'
    const isAskedAgain = before.state === 'ending' && before.askedAgain !== undefined
    judge.holds(after.attempt === before.attempt + 1, 'An attempt was skipped, or taken back.', facts)
    judge.holds(wasOver || isAskedAgain, 'A run began another attempt before it was over.', facts)
    judge.holds(after.state === 'accepted', 'An attempt began other than accepted.', facts)
  }

  function messageMoved({ before, after }: Change<MessageItem>): void {
    const facts = () => ({ before, after })
    judge.holds(after !== undefined, 'A message was deleted.', facts)
    if (!before) {
      judge.holds(after.state === 'owed', 'A message began other than owed.', facts)
      return
    }
    const isNewAttempt = after.attempt > before.attempt && after.state === 'owed' && before.state !== 'said'
    const isStep = after.attempt === before.attempt && MESSAGE_STEPS[before.state].includes(after.state)
    judge.holds(isNewAttempt || isStep, `A message went from ${before.state} to ${after.state}.`, facts)
    // A review that was said while a lens was missing used no round. Its round comes with the attempt that reads the
    // rest (RO2).
    const usesRound = before.state === 'said' && before.round === 0
    const isSameContent = before.document === after.document && (before.round === after.round || usesRound)
    judge.holds(isNewAttempt || isSameContent, 'What a message says was changed.', facts)
    judge.holds(after.state !== 'said' || after.githubId !== undefined, 'A message is said nowhere.', facts)
  }

  function eventMoved({ before, after }: Change<EventItem>): void {
    const stays = before?.state !== 'done' || after?.state === 'done'
    judge.holds(stays, 'An event that was done is open again.', () => ({ before, after }))
  }

  function raised({ before, after }: Change<ResourcesItem>): void {
    const facts = () => ({ before, after })
    judge.holds(after !== undefined && after.version >= (before?.version ?? 0), 'Resources were taken back.', facts)
    const [earlier, later] = [before as PlainItem | undefined, after as unknown as PlainItem]
    for (const [member, value] of Object.entries(later)) {
      if (member.startsWith('generation_')) {
        const was = Number(earlier?.[member] ?? 0)
        judge.holds(Number(value) >= was && Number(value) <= after.version, 'A generation was lowered.', facts)
      } else if (member.startsWith('shown_')) {
        const shown = (value as { generation: number }).generation
        const was = (earlier?.[member] as { generation: number } | undefined)?.generation ?? 0
        const wanted = Number(later[`generation_${member.slice('shown_'.length)}`] ?? 0)
        judge.holds(shown >= was, 'An older generation counts as shown after a newer one.', facts)
        judge.holds(shown <= wanted, 'A generation counts as shown that was never desired.', facts)
      }
    }
  }

  function fleetMoved({ before, after }: Change<FleetItem>): void {
    const facts = () => ({ before, after })
    judge.holds(after !== undefined, 'The fleet was deleted.', facts)
    if (!before) return
    judge.holds(after.version >= before.version, 'The version of the fleet was lowered.', facts)
    judge.holds(after.granted >= before.granted, 'The count of grants was lowered.', facts)
    const isSameRules = isEqual(before.limits, after.limits) && isEqual(withoutProbes(before), withoutProbes(after))
    judge.holds(isSameRules || after.version > before.version, 'Rules of the fleet changed without its version.', facts)
  }

  function haltsMoved({ before, after }: Change<HaltsItem & { version?: number }>): void {
    const isNewer = after !== undefined && (after.version ?? 0) > (before?.version ?? 0)
    judge.holds(isNewer, 'Halts changed without their version.', () => ({ before, after }))
  }
}

/** A probe is a grant, not a rule. */
function withoutProbes({ closed }: FleetItem) {
  return Object.entries(closed).map(([pool, { until }]) => [pool, until])
}

function isSame(before: object, after: object, except: readonly string[]): boolean {
  const members = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const member of except) members.delete(member)
  return [...members].every((member) => isEqual(Reflect.get(before, member), Reflect.get(after, member)))
}

function isEqual(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after)
}
