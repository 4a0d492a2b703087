/** A small machine with all features of Muster's own machine, and the pieces to start it in a test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SFNClient } from '@aws-sdk/client-sfn'
import {
  type Invoke,
  type LocalStepFunctions,
  startStepFunctions,
} from '../../../../infra/local/stepfunctions/stepfunctions.ts'

export const machineArn = 'arn:aws:states:local:000000000000:stateMachine:reviews'

export const functionArn = (name: string): string => `arn:aws:lambda:local:000000000000:function:${name}`

const invoke = (name: string, payload: object) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: functionArn(name), Payload: payload },
  TimeoutSeconds: 60,
})

const invokeAndWait = (name: string, payload: object) => ({
  ...invoke(name, { ...payload, 'token.$': '$$.Task.Token' }),
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
})

/** Input `{items: [...], width: n}`: every item is admitted, reviewed (again after `stale_fence`), then all concluded. */
export const reviewMachine = {
  StartAt: 'Plan',
  States: {
    Plan: {
      ...invoke('plan', { 'items.$': '$.items', 'width.$': '$.width', 'execution.$': '$$.Execution.Id' }),
      ResultSelector: { 'answer.$': '$.Payload' },
      ResultPath: '$.plan',
      Retry: [{ ErrorEquals: ['retry'], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 2, JitterStrategy: 'FULL' }],
      Next: 'Planned',
    },
    Planned: {
      Type: 'Choice',
      Choices: [
        {
          And: [
            { Variable: '$.plan.answer.outcome', IsPresent: true },
            { Variable: '$.plan.answer.outcome', StringEquals: 'planned' },
          ],
          Next: 'ReviewMap',
        },
      ],
      Default: 'Failed',
    },
    ReviewMap: {
      Type: 'Map',
      ItemsPath: '$.plan.answer.items',
      MaxConcurrencyPath: '$.plan.answer.width',
      ItemSelector: { 'item.$': '$$.Map.Item.Value' },
      ItemProcessor: {
        ProcessorConfig: { Mode: 'INLINE' },
        StartAt: 'Admit',
        States: {
          Admit: {
            ...invokeAndWait('admit', { 'item.$': '$.item', 'run.$': '$$.Execution.Name' }),
            ResultPath: '$.admission',
            Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.lost', Next: 'Done' }],
            Next: 'Review',
          },
          Review: {
            ...invoke('review', { 'item.$': '$.item', 'epoch.$': '$.admission.epoch' }),
            ResultSelector: { 'outcome.$': '$.Payload.outcome' },
            ResultPath: '$.result',
            Retry: [{ ErrorEquals: ['lease_held'], IntervalSeconds: 0.05, BackoffRate: 1, MaxAttempts: 5 }],
            Catch: [
              { ErrorEquals: ['stale_fence'], ResultPath: null, Next: 'Admit' },
              { ErrorEquals: ['States.ALL'], ResultPath: '$.lost', Next: 'Done' },
            ],
            Next: 'Done',
          },
          Done: { Type: 'Pass', End: true },
        },
      },
      ResultPath: '$.reviews',
      Next: 'Conclude',
    },
    Conclude: {
      ...invokeAndWait('conclude', { 'reviews.$': '$.reviews' }),
      ResultPath: '$.conclusion',
      Next: 'Succeeded',
    },
    Succeeded: { Type: 'Succeed' },
    Failed: { Type: 'Fail', Error: 'run_failed', Cause: 'Nothing was planned.' },
  },
}

/** A task in a single state, with the test's changes. */
export function taskMachine(changes: object = {}): object {
  return { StartAt: 'Only', States: { Only: { ...invoke('only', { 'input.$': '$' }), End: true, ...changes } } }
}

/** A task that waits for its token. */
export function waitMachine(changes: object = {}): object {
  const state = { ...invokeAndWait('wait', { 'input.$': '$' }), End: true, ...changes }
  return { StartAt: 'Wait', States: { Wait: state } }
}

/** An error in the form of the local Lambda runtime. */
export function functionError(errorType: string, errorMessage = `${errorType} happened`): Error {
  return Object.assign(new Error(errorMessage), { name: 'FunctionError', errorType, errorMessage })
}

/** A service for this machine over a temporary folder, deleted at the close. */
export async function startMachine(definition: object, invoke: Invoke): Promise<LocalStepFunctions> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfunctions-'))
  const machines = [{ arn: machineArn, definition }]
  const service = await startStepFunctions({ directory, machines, invoke })
  return {
    ...service,
    async close() {
      await service.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export function sfnClient(url: string): SFNClient {
  return new SFNClient({
    endpoint: url,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
}
