/**
 * Named points between two effects, where a test may stop, look, act or let the process die. They stand in the code as
 * `POINT: await reached('…')`; the bundles that are deployed hold none of them, as esbuild drops what has that label.
 */

/** Each is named for what has just been done, and stands at one place. */
export const POINTS = [
  'webhook.run_recorded',
  'webhook.event_recorded',
  'command.ending_begun',
  'command.done',
  'plan.claimed',
  'plan.earlier_ended',
  'plan.ending_begun',
  'conclude.documents_stored',
  'conclude.written',
  'conclude.nudged',
  'post.message_leased',
  'post.review_pending',
  'post.pending_remembered',
  'post.review_said',
  'post.round_counted',
  'sweep.moved_on',
] as const

export type Point = (typeof POINTS)[number]

/** Whoever reached the point goes on when this has settled; what it rejects with is thrown there. */
export type PointListener = (point: Point) => void | Promise<void>

let listener: PointListener | undefined

/** Hears of every point from now on, in place of who did so before; the function that is returned ends that. */
export function listenAtPoints(heard: PointListener): () => void {
  listener = heard
  return () => {
    listener = undefined
  }
}

/** Says that a point was reached; always under the label POINT. */
export async function reached(point: Point): Promise<void> {
  await listener?.(point)
}
