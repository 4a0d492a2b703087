/**
 * The state machine of one attempt of a run, as data.
 * The definition keeps to the subset of the States Language that both AWS Step Functions and the local engine honour:
 * JSONPath, a timeout on every task, names that are unique in the whole machine, no intrinsic functions, context fields
 * only in payloads. State carries identifiers and small numbers, and Lambda's own words about a crash; never content.
 */
import { type RoomName, rooms } from './rooms.ts'

/** The rooms that the machine invokes. */
export const machineRooms = ['plan', 'admit', 'review', 'conclude'] as const satisfies readonly RoomName[]

export type MachineRoom = (typeof machineRooms)[number]

export type State = Readonly<Record<string, unknown>> & { readonly Type: string }

export interface MachineDefinition {
  readonly Comment: string
  readonly StartAt: string
  readonly States: Readonly<Record<string, State>>
}

/** Seconds that a task gets beyond its function's own timeout: Lambda ends the function first, with a reason. */
const invocationMarginSeconds = 30

/** The longest wait of a review for a slot, s: a fleet full for six hours needs a person. */
const admitTimeoutSeconds = 6 * 60 * 60

/** The longest wait of a conclusion until GitHub shows it, s, with GitHub's rate limits and outages. */
const concludeTimeoutSeconds = 24 * 60 * 60

/**
 * Seconds between a crash of a review's worker and the review's next admission. A short outage of Lambda or its network
 * must not use up all losses of a review at once.
 */
const crashPauseSeconds = 5

/**
 * Seconds between two tries of a plan that GitHub blocks. Plan gives up by the clock, and a limit of GitHub lasts up to
 * an hour.
 */
const planPauseSeconds = 60

/**
 * Lambda was out of reach or busy: https://docs.aws.amazon.com/step-functions/latest/dg/sfn-best-practices.html. The
 * list contains throttling too, which the defaults of most tools leave out.
 */
const serviceErrors = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.TooManyRequestsException',
]

/**
 * The function's process ended without an answer. A second call of a room is safe, because its writes are fenced; a
 * review's worker is the exception, because its lease may still stand, and its review is admitted again.
 */
const crashErrors = ['Lambda.Unknown', 'Runtime.ExitError', 'Sandbox.Timedout']

/**
 * The review belongs to another worker, or its own worker doesn't answer: the review may be admitted again. A refusal
 * never gets here.
 */
const replaced = ['stale_fence', 'lease_held', 'States.Timeout']

/** The value before any crash: no review has epoch 0, so Admit learns nothing. */
const nobodyLost = { epoch: 0, cause: '' }

const retryOfService = {
  ErrorEquals: serviceErrors,
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxAttempts: 6,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
}

const retryOfCrash = {
  ErrorEquals: crashErrors,
  IntervalSeconds: 5,
  BackoffRate: 2,
  MaxAttempts: 2,
  JitterStrategy: 'FULL',
}

/**
 * The retry for a head that GitHub's API doesn't show yet: after 5, 7.5, 11, 17, 25, then 30 s each, 246 s in all. This
 * retry alone has no jitter, because jitter would halve the average wait; the run gives up by the clock before the
 * retries end.
 */
const retryOfHeadNotVisible = {
  ErrorEquals: ['retry'],
  IntervalSeconds: 5,
  BackoffRate: 1.5,
  MaxAttempts: 11,
  MaxDelaySeconds: 30,
}

/** A room may ask for a later call: many writers at the fleet, a throttled table, a rate limit of GitHub. */
const retryLater = {
  ErrorEquals: ['retry'],
  IntervalSeconds: 5,
  BackoffRate: 2,
  MaxAttempts: 8,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
}

/**
 * A conclusion also waits for an earlier review that is being withdrawn: the queue shows the message of a dead poster
 * again after six minutes. About 13 minutes in all.
 */
const retryOfConclusion = { ...retryLater, MaxAttempts: 30 }

/**
 * Another worker holds the lease. A worker may have died without a word from Lambda; its lease of three minutes ends
 * within 10, 15, 23, 34, 51, 60, 60 s.
 */
const retryOfLeaseHeld = {
  ErrorEquals: ['lease_held'],
  IntervalSeconds: 10,
  BackoffRate: 1.5,
  MaxAttempts: 7,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
}

/** The fields that every room gets. */
const identity = { 'contract.$': '$.contract', 'runId.$': '$.runId', 'attempt.$': '$.attempt' }

/**
 * The definition whose tasks invoke the given functions. `partition` is the partition in the integrations' own ARNs.
 * Pure: placeholders work as well as real ARNs.
 */
export function machineDefinition(
  functionArns: Readonly<Record<MachineRoom, string>>,
  partition: string,
): MachineDefinition {
  const invoke = (room: MachineRoom, payload: object) => ({
    Type: 'Task',
    Resource: `arn:${partition}:states:::lambda:invoke`,
    Parameters: { FunctionName: functionArns[room], Payload: payload },
    TimeoutSeconds: rooms[room].timeoutSeconds + invocationMarginSeconds,
  })
  const invokeAndWait = (room: MachineRoom, payload: object, timeoutSeconds: number) => ({
    Type: 'Task',
    Resource: `arn:${partition}:states:::lambda:invoke.waitForTaskToken`,
    Parameters: { FunctionName: functionArns[room], Payload: { ...payload, 'token.$': '$$.Task.Token' } },
    TimeoutSeconds: timeoutSeconds,
  })
  const admit = (reviewPath: string) =>
    invokeAndWait('admit', { ...identity, 'review.$': reviewPath, 'lost.$': '$.lost' }, admitTimeoutSeconds)
  const review = (reviewPath: string, epochPath: string) =>
    invoke('review', { ...identity, 'review.$': reviewPath, 'epoch.$': epochPath })

  return {
    Comment: 'One attempt of a run: plan, reviews side by side, an adjudication, one conclusion.',
    StartAt: 'Plan',
    States: {
      Plan: {
        ...invoke('plan', {
          ...identity,
          'execution.$': '$$.Execution.Id',
          'startedAt.$': '$$.Execution.StartTime',
        }),
        ResultSelector: { 'answer.$': '$.Payload' },
        ResultPath: '$.plan',
        Retry: [retryOfHeadNotVisible, retryOfService, retryOfCrash],
        // A wait that outlasts the retries goes through `PlanPause`. Plan itself gives up, by the clock.
        Catch: [catchInto('PlanPause', ['retry'])],
        Next: 'PlanOutcome',
      },
      PlanPause: pause(planPauseSeconds, 'Plan'),
      PlanOutcome: {
        Type: 'Choice',
        Choices: [
          when('$.plan.answer.outcome', 'planned', 'ReviewMap'),
          // The plan of an earlier, unanswered call; completed reviews answer at once.
          when('$.plan.answer.outcome', 'replay', 'ReviewMap'),
          when('$.plan.answer.outcome', 'shown', 'Conclude'),
          when('$.plan.answer.outcome', 'wait', 'PlanPause'),
          when('$.plan.answer.outcome', 'superseded', 'Superseded'),
          when('$.plan.answer.outcome', 'held', 'Held'),
        ],
        Default: 'Failed',
      },
      ReviewMap: {
        Type: 'Map',
        ItemsPath: '$.plan.answer.reviews',
        MaxConcurrencyPath: '$.plan.answer.ceiling',
        ItemSelector: { ...identity, 'review.$': '$$.Map.Item.Value', lost: nobodyLost },
        ItemProcessor: {
          ProcessorConfig: { Mode: 'INLINE' },
          StartAt: 'Admit',
          States: {
            Admit: {
              ...admit('$.review'),
              ResultPath: '$.admission',
              Retry: [retryLater, retryOfService, retryOfCrash],
              Catch: [catchInto('ReviewLost')],
              Next: 'AdmitOutcome',
            },
            AdmitOutcome: {
              Type: 'Choice',
              Choices: [when('$.admission.outcome', 'granted', 'Review')],
              Default: 'ReviewDone',
            },
            // A replaced or dead worker sends the review back to the queue. The ledger counts the losses; the fifth
            // fails the review.
            Review: {
              ...review('$.review', '$.admission.epoch'),
              ResultSelector: { 'answer.$': '$.Payload' },
              ResultPath: '$.reading',
              Retry: [retryOfLeaseHeld, retryLater, retryOfService],
              Catch: [catchCrash('ReviewCrashed'), catchInto('Admit', replaced), catchInto('ReviewLost')],
              Next: 'ReviewOutcome',
            },
            ReviewCrashed: crashed('ReviewPause'),
            ReviewPause: pause(crashPauseSeconds, 'Admit'),
            // A review with a throttled model waits again; patience bounds the wait, by the clock.
            ReviewOutcome: {
              Type: 'Choice',
              Choices: [when('$.reading.answer.outcome', 'parked', 'Admit')],
              Default: 'ReviewDone',
            },
            // One lost review must not end the others. Conclude sees in the ledger that the review has no result, and
            // reports the gap.
            ReviewLost: { Type: 'Pass', Parameters: { 'review.$': '$.review', outcome: 'failed' }, Next: 'ReviewDone' },
            ReviewDone: { Type: 'Pass', Parameters: { 'review.$': '$.review' }, End: true },
          },
        },
        // The results of the items are not needed, and the adjudication has lost no worker yet.
        ResultSelector: nobodyLost,
        ResultPath: '$.lost',
        Next: 'AdmitAdjudication',
      },
      AdmitAdjudication: {
        ...admit('$.plan.answer.adjudication'),
        ResultPath: '$.admission',
        Retry: [retryLater, retryOfService, retryOfCrash],
        Catch: [catchInto('Conclude')],
        Next: 'AdjudicationOutcome',
      },
      AdjudicationOutcome: {
        Type: 'Choice',
        Choices: [when('$.admission.outcome', 'granted', 'Adjudicate')],
        // The adjudication is unnecessary (no blocking finding), completed, or ended; Conclude reads which from the
        // ledger.
        Default: 'Conclude',
      },
      Adjudicate: {
        ...review('$.plan.answer.adjudication', '$.admission.epoch'),
        ResultSelector: { 'answer.$': '$.Payload' },
        ResultPath: '$.reading',
        Retry: [retryOfLeaseHeld, retryLater, retryOfService],
        Catch: [catchCrash('AdjudicateCrashed'), catchInto('AdmitAdjudication', replaced), catchInto('Conclude')],
        Next: 'AdjudicateOutcome',
      },
      AdjudicateCrashed: crashed('AdjudicatePause'),
      AdjudicatePause: pause(crashPauseSeconds, 'AdmitAdjudication'),
      AdjudicateOutcome: {
        Type: 'Choice',
        Choices: [when('$.reading.answer.outcome', 'parked', 'AdmitAdjudication')],
        Default: 'Conclude',
      },
      // Not caught: the execution ends with the room's own error and cause, and the sweeper takes the run up.
      Conclude: {
        ...invokeAndWait('conclude', identity, concludeTimeoutSeconds),
        ResultPath: '$.conclusion',
        Retry: [retryOfConclusion, retryOfService, retryOfCrash],
        Next: 'ConcludeOutcome',
      },
      ConcludeOutcome: {
        Type: 'Choice',
        Choices: [
          when('$.conclusion.outcome', 'shown', 'Succeeded'),
          when('$.conclusion.outcome', 'superseded', 'Superseded'),
          when('$.conclusion.outcome', 'held', 'Held'),
        ],
        Default: 'Failed',
      },
      Succeeded: { Type: 'Succeed' },
      Superseded: { Type: 'Succeed' },
      Held: { Type: 'Succeed' },
      Failed: {
        Type: 'Fail',
        Error: 'run_failed',
        Cause: 'The run ended as failed. Its reason stands on the run and on its check run at GitHub.',
      },
    },
  }
}

/**
 * The presence check guards the comparison: a comparison with a missing field would end the whole execution,
 * uncatchably.
 */
function when(variable: string, outcome: string, next: string): object {
  return {
    And: [
      { Variable: variable, IsPresent: true },
      { Variable: variable, StringEquals: outcome },
    ],
    Next: next,
  }
}

/**
 * Passes Lambda's message on to Admit: the message names the dead invocation, as the invocation's lease does. The
 * message of the next crash replaces this message.
 */
function catchCrash(next: string): object {
  return { ErrorEquals: crashErrors, ResultPath: '$.lost', Next: next }
}

function crashed(next: string): State {
  return {
    Type: 'Pass',
    Parameters: { 'epoch.$': '$.admission.epoch', 'cause.$': '$.lost.Cause' },
    ResultPath: '$.lost',
    Next: next,
  }
}

function pause(seconds: number, next: string): State {
  return { Type: 'Wait', Seconds: seconds, Next: next }
}

/** Drops the error's text: the execution's history has the text, and state stays small. */
function catchInto(next: string, errors: readonly string[] = ['States.ALL']): object {
  return { ErrorEquals: errors, ResultPath: null, Next: next }
}
