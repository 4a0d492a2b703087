/**
 * Named points between two effects, where a test may pause, inspect, act, or let the process die. The code has them as
 * `FAILPOINT: await failpoint('…')`; esbuild drops that label, so deployed bundles hold none.
 */

/** Named for the effect before; each stands at one place. */
export const FAILPOINTS = [
  'webhook.run_recorded',
  'webhook.event_recorded',
  'start_run.recorded',
  'command.ending_begun',
  'command.done',
  'cancel.ending_begun',
  'plan.claimed',
  'plan.earlier_ended',
  'plan.ending_begun',
  'plan.stored',
  'plan.written',
  'admit.review_written',
  'ticket.queued',
  'grant.fleet_written',
  'grant.told',
  'grant.review_written',
  'grant.answer_dead',
  'hand_over.fleet_written',
  'set_limits.written',
  'review.leased',
  'review.others_admitted',
  'review.read',
  'review.completed',
  'review.told',
  'review.pool_opened',
  'park.released',
  'park.pool_closed',
  'show_parked.raised',
  'review.run_held',
  'review.ended',
  'review.result_stored',
  'end_review.written',
  'end_review.ticket_dropped',
  'end_review.answered',
  'tell_done.answered',
  'take_back.written',
  'take_back.slot_released',
  'conclude.documents_stored',
  'conclude.written',
  'conclude.nudged',
  'post.message_leased',
  'post.review_pending',
  'post.pending_remembered',
  'post.review_said',
  'post.round_counted',
  'post.resources_leased',
  'post.resource_kept',
  'post.messages_said',
  'post.resources_shown',
  'finish.rounds_counted',
  'finish.answered',
  'finish.run_ended',
  'hold.written',
  'hold.reviews_ended',
  'hold.slots_released',
  'hold_behind.written',
  'ending.reviews_ended',
  'ending.slots_released',
  'ending.execution_stopped',
  'ending.shown_settled',
  'ending.run_ended',
  'ending.messages_withdrawn',
  'ending.resources_raised',
  'sweep.moved_on',
  'give_up.written',
] as const

export type Failpoint = (typeof FAILPOINTS)[number]

/** The caller of the failpoint waits for the promise, and gets its rejection. */
export type FailpointListener = (name: Failpoint) => void | Promise<void>

let listener: FailpointListener | undefined

/** Replaces the listener for every point; the returned function removes it. */
export function listenAtFailpoints(replacement: FailpointListener): () => void {
  listener = replacement
  return () => {
    listener = undefined
  }
}

/** Reports a reached point; always under the label FAILPOINT. */
export async function failpoint(name: Failpoint): Promise<void> {
  await listener?.(name)
}
