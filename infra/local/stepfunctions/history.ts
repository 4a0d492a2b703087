/** A journal as the history of GetExecutionHistory: for people who look for the state of a run and its reason. */
import type { Line } from './journal.ts'

type Event = Readonly<Record<string, unknown>> & { readonly type: string }

const resourceType = 'lambda'

/** The events of a journal in their order, numbered from 1. */
export function historyOf(lines: readonly Line[]): Record<string, unknown>[] {
  const waiting = new Set<string>()
  return lines
    .flatMap((line) => {
      if (line.kind === 'attempt' && line.token !== undefined) waiting.add(line.task)
      return eventsOf(line, waiting).map((event) => ({ timestamp: line.at / 1000, ...event }))
    })
    .map((event, index) => ({ id: index + 1, previousEventId: index, ...event }))
}

function eventsOf(line: Line, waiting: ReadonlySet<string>): Event[] {
  switch (line.kind) {
    case 'started':
      return [{ type: 'ExecutionStarted', executionStartedEventDetails: { input: line.input } }]
    case 'entered':
      return [
        { type: `${line.type}StateEntered`, stateEnteredEventDetails: { name: line.state, ...data('input', line) } },
      ]
    case 'exited':
      return [
        { type: `${line.type}StateExited`, stateExitedEventDetails: { name: line.state, ...data('output', line) } },
      ]
    case 'iteration':
      return [iteration(line.change, { name: line.state, index: line.index })]
    case 'attempt':
    case 'submitted':
    case 'outcome':
      return taskEvents(line, resourceOf(waiting.has(line.task)))
    case 'retry':
    case 'wait':
      return []
    case 'ended':
      return [ended(line)]
  }
}

function taskEvents(
  line: Extract<Line, { kind: 'attempt' | 'submitted' | 'outcome' }>,
  resource: { resourceType: string; resource: string },
): Event[] {
  if (line.kind === 'attempt') {
    const parameters = JSON.stringify({ FunctionName: line.functionName })
    return [
      { type: 'TaskScheduled', taskScheduledEventDetails: { ...resource, region: 'local', parameters } },
      { type: 'TaskStarted', taskStartedEventDetails: resource },
    ]
  }
  if (line.kind === 'submitted') return [{ type: 'TaskSubmitted', taskSubmittedEventDetails: resource }]
  if ('output' in line) {
    return [{ type: 'TaskSucceeded', taskSucceededEventDetails: { ...resource, output: line.output } }]
  }
  const details = { ...resource, error: line.error, cause: line.cause }
  return line.error === 'States.Timeout'
    ? [{ type: 'TaskTimedOut', taskTimedOutEventDetails: details }]
    : [{ type: 'TaskFailed', taskFailedEventDetails: details }]
}

function iteration(type: string, details: { name: string; index: number }): Event {
  // The field is named for the event's type, with a small first letter.
  return { type, [`${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`]: details }
}

function ended(line: Extract<Line, { kind: 'ended' }>): Event {
  const { output, error, cause } = line
  switch (line.status) {
    case 'SUCCEEDED':
      return { type: 'ExecutionSucceeded', executionSucceededEventDetails: { output } }
    case 'FAILED':
      return { type: 'ExecutionFailed', executionFailedEventDetails: { error, cause } }
    case 'ABORTED':
      return { type: 'ExecutionAborted', executionAbortedEventDetails: { error, cause } }
  }
}

function resourceOf(waits: boolean): { resourceType: string; resource: string } {
  return { resourceType, resource: waits ? 'invoke.waitForTaskToken' : 'invoke' }
}

function data(field: 'input' | 'output', line: { data: string | null }): Record<string, unknown> {
  return { ...(line.data !== null && { [field]: line.data }), [`${field}Details`]: { truncated: line.data === null } }
}
