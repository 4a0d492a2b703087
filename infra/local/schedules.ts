/** EventBridge schedules on one machine: each schedule invokes its function at its rate, never twice at once. */
import type { PlainSchedule } from '../plain-stack.ts'

export interface ScheduleOptions {
  /** The factor by which schedules run faster than deployed; 1 is the deployed rate. */
  readonly speed: number
  readonly invoke: (functionName: string, event: unknown) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** ms; no schedule runs more often, however short the leases are. */
const INTERVAL_MS_MIN = 1_000

/** Starts the schedules; the first tick comes at once, for the unfinished work of an earlier process. */
export function startSchedules(
  schedules: readonly PlainSchedule[],
  options: ScheduleOptions,
): { close(): Promise<void> } {
  const tickers = schedules.map((schedule) => startTicker(schedule, options))
  return {
    async close() {
      await Promise.all(tickers.map((stop) => stop()))
    },
  }
}

function startTicker(schedule: PlainSchedule, { speed, invoke, onError }: ScheduleOptions): () => Promise<void> {
  let underWay: Promise<void> | undefined
  let closed = false
  const tick = () => {
    if (underWay || closed) return
    underWay = invoke(schedule.function, { source: 'aws.scheduler', time: new Date().toISOString() })
      .then(
        () => undefined,
        (error: unknown) => {
          if (!closed) onError(error)
        },
      )
      .finally(() => {
        underWay = undefined
      })
  }
  const timer = setInterval(tick, Math.max(INTERVAL_MS_MIN, schedule.intervalMs / speed))
  tick()
  return async () => {
    closed = true
    clearInterval(timer)
  }
}
