/**
 * What our programs remember where they read the fleet: there they begin a round of a hand-over, or a try to grant at once,
 * and hold little of what they were answered before. This is what keeps the model small: without it each order of what a
 * program has read would be a stand of its own. It is a claim about the code, and `program.ts` tries whether it is true.
 */
import type { Past } from './program.ts'

const GET_FLEET = 'Get FLEET '

/** After which step which part of a program begins. The last one that it has passed says where it is. */
const PARTS: readonly (readonly [RegExp, 'hands on' | 'grants at once' | 'other'])[] = [
  [/^Update REVIEW.*#result = /, 'hands on'],
  [/^Update FLEET SET #limits/, 'hands on'],
  [/^take_back\.written/, 'hands on'],
  [/^take_back\.slot_released/, 'grants at once'],
  [/^grant\.fleet_written/, 'other'],
  [/^ticket\.queued/, 'hands on'],
]

/**
 * - Granting at once, a program knows its review, which its take-back has answered, and reads all else anew at each try.
 * - Handing on, it knows what it gives up, and what follows the hand-over, both from the same answer. A round that is not the
 *   first one knows nothing of those before it, unless one has found a void place or was refused; and what was given up is
 *   forgotten once a write of the fleet was done.
 */
export function remembersOf(name: string): (past: readonly Past[], asks: string) => string | undefined {
  const isSweeper = name.startsWith('sweeper')
  return (past, asks) => {
    if (asks !== GET_FLEET) return undefined
    const began = past.findLastIndex(({ label }) => partOf(label) !== undefined)
    const part = partOf(past[began]?.label ?? '')
    if (part === undefined || part === 'other') return undefined
    const since = past.slice(began + 1)
    const step = past[began]?.label ?? ''
    const takenBack = step.startsWith('take_back') ? past.find(isTakeBack) : undefined
    const all = takenBack ? `${step} ${takenBack.label} ${takenBack.answer}` : step
    if (part === 'grants at once') return all

    const rounds = since.filter(({ label }) => label === GET_FLEET).length
    if (rounds === 0) return undefined
    const round = since.slice(since.findLastIndex(({ label }) => label === GET_FLEET))
    if (round.some(isRefused)) return undefined
    const owes = !since.some((each) => each.label.startsWith('Update FLEET') && !isRefused(each))
    if (owes && step !== 'ticket.queued') return undefined
    return isSweeper ? all : step
  }
}

function partOf(label: string) {
  return PARTS.find(([begins]) => begins.test(label))?.[1]
}

function isTakeBack({ label }: Past): boolean {
  return /^Update REVIEW.*#losses = /.test(label)
}

function isRefused({ label, answer }: Past): boolean {
  return label.startsWith('Update') && answer?.startsWith('done') !== true
}
