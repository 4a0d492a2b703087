/**
 * A process with the review machine, for tests with kills. The functions write a line for each call to a file, and
 * leave their tokens for the parent. Arguments: directory, file of calls.
 */
import { appendFileSync } from 'node:fs'
import { startStepFunctions } from '../../../../infra/local/stepfunctions/stepfunctions.ts'
import { functionError, machineArn, reviewMachine } from './machine.ts'

const [directory = '', callsFile = ''] = process.argv.slice(2)

export interface RecordedCall {
  /** Names the call: the same in every attempt, and echoed in the result or error. */
  readonly id: string
  readonly item?: string
  readonly token?: string
}

const service = await startStepFunctions({
  directory,
  machines: [{ arn: machineArn, definition: reviewMachine }],
  async invoke(arn, payload) {
    const name = arn.split(':').at(-1)
    const { items, item, epoch, token, width } = payload as Record<string, unknown> & { items?: string[] }
    const id = name === 'plan' ? `plan:${items?.[0]}` : name === 'review' ? `review:${item}:${epoch}` : `token:${token}`
    appendFileSync(callsFile, `${JSON.stringify({ id, item, token })}\n`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (name === 'plan') return { outcome: 'planned', items, width, id }
    if (name === 'review' && epoch === 1 && String(item).endsWith('1')) throw functionError('stale_fence', id)
    return { outcome: 'complete', id }
  },
})
await service.resume()
process.stdout.write(`${service.url}\n`)
