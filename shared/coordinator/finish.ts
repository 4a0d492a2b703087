/** The end of a reviewed run: once GitHub shows all its messages and resources, its rounds count and its task is answered. */
import { answerToken } from '../aws/executions.ts'
import { failpoint } from '../base/failpoints.ts'
import { readMessages } from '../ledger/message.ts'
import { type ResourceName, readResources, resourceIn } from '../ledger/resource.ts'
import { endRun, readRun } from '../ledger/run.ts'
import { countRound } from '../ledger/thread.ts'
import type { Reason } from '../runs/run.ts'
import type { Coordinator } from './coordinator.ts'
import { wakeWaiting } from './hold.ts'

/** The reason of a run whose review GitHub did not take (LE9). */
const NOT_SAID: Reason = { code: 'post_failed', sentence: 'The review could not be posted; the message says why.' }

/**
 * Ends a concluded run if GitHub shows everything owed, and answers Conclude's token. Called by conclude, post and the sweeper,
 * as each may be the last to show something (IL10). Repeatable. False while a message or a resource is still owed.
 */
export async function finishIfShown(coordinator: Coordinator, runId: string): Promise<boolean> {
  const { ledger, now } = coordinator
  const run = await readRun(ledger, runId)
  if (run?.state !== 'concluded') return run?.state === 'ended'
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  const messages = await readMessages(ledger, { ...pullRequest, runId })
  // Only messages of this attempt: a failed message of an earlier attempt is not owed by this attempt.
  const failed = messages.some(({ attempt, state }) => attempt === run.attempt && state === 'failed')
  const open = messages.some(({ state }) => state === 'owed' || state === 'withdrawing')
  // Also after a failed message: resources shown only in part would stay so, as nothing is shown for a run ended as
  // failed.
  if (open || !(await resourcesShown(coordinator, pullRequest, run.head))) return false
  for (const message of messages) {
    if (message.state === 'said' && message.round > 0) await countRound(ledger, pullRequest, message)
  }
  FAILPOINT: await failpoint('finish.rounds_counted')
  // Answered before the run ends: after a death in between, the run is still due, and a second answer is dead.
  if (run.token !== undefined) {
    await answerToken(coordinator.executions, run.token, { outcome: failed ? 'failed' : 'shown' })
  }
  FAILPOINT: await failpoint('finish.answered')
  const end = failed ? ({ outcome: 'failed', reason: NOT_SAID } as const) : ({ outcome: 'reviewed' } as const)
  const ended = await endRun(ledger, run, { ...end, now: now() })
  FAILPOINT: await failpoint('finish.run_ended')
  if (ended) await wakeWaiting(coordinator, run)
  return ended
}

async function resourcesShown(
  { ledger }: Coordinator,
  pullRequest: { repositoryId: number; number: number },
  head: string,
): Promise<boolean> {
  const resources = await readResources(ledger, pullRequest)
  return resourceNamesOf(head).every((name) => {
    const resource = resourceIn(resources, name)
    return !resource || resource.shownGeneration >= resource.generation
  })
}

/** The resources of a run: the check run of its head, and the pull request's only summary and label. */
function resourceNamesOf(head: string): ResourceName[] {
  return [
    { kind: 'check_run', key: head },
    { kind: 'summary', key: 'main' },
    { kind: 'label', key: 'main' },
  ]
}
