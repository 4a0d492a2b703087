/**
 * Named points between two effects, where a test may stop, look, act or let the process die. They stand in the code as
 * `FAILPOINT: await failpoint('…')`; the bundles that are deployed hold none of them, as esbuild drops what has that label.
 */

/** Each is named for what has just been done, and stands at one place. */
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

/** Whoever reached the point goes on when this has settled; what it rejects with is thrown there. */
export type FailpointListener = (name: Failpoint) => void | Promise<void>

let listener: FailpointListener | undefined

/** Hears of every point from now on, in place of who did so before; the function that is returned ends that. */
export function listenAtFailpoints(heard: FailpointListener): () => void {
  listener = heard
  return () => {
    listener = undefined
  }
}

/** Says that a point was reached; always under the label FAILPOINT. */
export async function failpoint(name: Failpoint): Promise<void> {
  await listener?.(name)
}
