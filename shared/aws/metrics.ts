/** Numbers for graphs and alarms. CloudWatch reads them from a line of the log (its embedded metric format), without a call. */
import { Metrics as EmbeddedMetrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import { optionalEnvironment } from './environment.ts'

export interface Measurement {
  /** In CloudWatch's own form, as in `OldestDueAge`. */
  readonly name: string
  readonly value: number
  readonly unit: 'milliseconds' | 'count'
}

export interface Metrics {
  /** Writes the measurements of one invocation, all together. */
  publish(measurements: readonly Measurement[]): void
}

const units = { milliseconds: MetricUnit.Milliseconds, count: MetricUnit.Count } as const

/**
 * The metrics of a room, by the names of the room and of its function, which tells several stacks of one account apart. The
 * namespace is the deployment's (POWERTOOLS_METRICS_NAMESPACE).
 */
export function openMetrics(room: string): Metrics {
  const functionName = optionalEnvironment('AWS_LAMBDA_FUNCTION_NAME')
  const embedded = new EmbeddedMetrics({
    serviceName: room,
    ...(functionName === undefined ? {} : { defaultDimensions: { function_name: functionName } }),
  })
  return {
    publish: (measurements) => {
      for (const { name, value, unit } of measurements) embedded.addMetric(name, units[unit], value)
      embedded.publishStoredMetrics()
    },
  }
}
