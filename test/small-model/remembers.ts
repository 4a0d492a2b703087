/**
 * The memory of our programs at a read of the fleet, where a program begins a round of a hand-over, or a try to grant
 * at once. There a program has forgotten most earlier answers. The forgetting keeps the model small: otherwise each
 * order of a program's reads would be a stand of its own. The claim about the code is tested by `program.ts`.
 */
import type { Past } from './program.ts'

const GET_FLEET = 'Get FLEET '

/** The part of a program that begins after each step. The last step that was passed tells the part. */
const PARTS: readonly (readonly [RegExp, 'hands on' | 'grants at once' | 'other'])[] = [
  [/^Update REVIEW.*#result = /, 'hands on'],
  [/^Update FLEET SET #limits/, 'hands on'],
  [/^take_back\.written/, 'hands on'],
  [/^take_back\.slot_released/, 'grants at once'],
  [/^grant\.fleet_written/, 'other'],
  [/^ticket\.queued/, 'hands on'],
]

/**
 * - Granting at once, a program knows its review from the answer to its take-back, and reads everything else anew at
 * each try.
 * - Handing over, a program knows the released slot and its work after the hand-over, both from the same answer. A
 * later round knows nothing of earlier rounds, unless a round has found a void slot or was refused. After a write of
 * the fleet the program has forgotten the released slot.
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
