import { describe, expect, it } from 'vitest'
import { CONTRACT } from '../../../shared/base/limits.ts'
import {
  admitInput,
  concludeInput,
  inboxNudge,
  inputOf,
  outboxNudge,
  planInput,
  reviewInput,
} from '../../../shared/runs/contract.ts'

const runId = 'a'.repeat(64)
const identity = { contract: CONTRACT, runId, attempt: 1 }
const inputs = [
  ['plan', planInput, { ...identity, execution: 'arn:aws:states:eu-central-1:1:execution:run:name' }],
  ['admit', admitInput, { ...identity, review: 'r', token: 't' }],
  ['review', reviewInput, { ...identity, review: 'r', epoch: 1 }],
  ['conclude', concludeInput, { ...identity, token: 't' }],
  ['outbox', outboxNudge, { contract: CONTRACT, repositoryId: 7, number: 42, runId }],
  ['inbox', inboxNudge, { contract: CONTRACT, repositoryId: 7, number: 42, cause: 'closed:1' }],
] as const

describe('inputOf', () => {
  it.each(inputs)(
    '%s: accepts its own contract and the previous version: live executions survive a deploy',
    (_, schema, input) => {
      expect(inputOf<unknown>(schema, input)).toEqual(input)
      expect(inputOf<unknown>(schema, { ...input, contract: CONTRACT - 1 })).toMatchObject({ contract: CONTRACT - 1 })
    },
  )

  it.each(inputs)('%s: refuses an older and a newer contract by name', (_, schema, input) => {
    for (const contract of [CONTRACT - 2, CONTRACT + 1, CONTRACT + 0.5, String(CONTRACT)]) {
      expect(() => inputOf<unknown>(schema, { ...input, contract })).toThrow(/^contract_unknown: The input's contract /)
    }
  })

  it.each(inputs)('AW35: %s: refuses an input with a missing member, and names the member', (_, schema, input) => {
    for (const member of Object.keys(input)) {
      expect(() => inputOf<unknown>(schema, { ...input, [member]: undefined })).toThrow(`The input's ${member} `)
    }
  })

  it('an input without members is refused as a whole', () => {
    expect(() => inputOf(planInput, null)).toThrow("The input's root ")
  })

  it('a run id is a whole SHA-256, in lower case', () => {
    for (const bad of [runId.slice(1), runId.toUpperCase(), `${runId}a`, `${runId}\n`]) {
      expect(() => inputOf(concludeInput, { ...identity, token: 't', runId: bad })).toThrow("The input's runId ")
    }
  })
})
