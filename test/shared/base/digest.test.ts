import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical, digestOf, type Plain, sha256 } from '../../../shared/base/digest.ts'
import { causeOf, executionNameOf, runIdOf } from '../../../shared/runs/run-identity.ts'
import { sha } from '../samples.ts'

const EXECUTION_NAME = /^[0-9A-Za-z_-]{1,80}$/

const execution = fc.record({
  owner: fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }),
  name: fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }),
  number: fc.integer({ min: 1, max: 2_147_483_647 }),
  head: fc.stringMatching(/^[0-9a-f]{40}$/),
  attempt: fc.integer({ min: 1, max: 99_999 }),
  runId: fc.stringMatching(/^[0-9a-f]{64}$/),
})

describe('executionNameOf', () => {
  it('an execution name is readable', () => {
    const name = executionNameOf({
      owner: 'acme',
      name: 'widgets',
      number: 42,
      head: '9b9189b0'.padEnd(40, '0'),
      attempt: 1,
      runId: 'a1b2c3d4e5f6'.padEnd(64, '0'),
    })
    expect(name).toBe('acme-widgets-pr42-9b9189b-a1-a1b2c3d4e5')
  })

  it('AW56: an execution name has at most 80 characters that Step Functions and its logs allow, for any repository', () => {
    fc.assert(
      fc.property(execution, (run) => {
        expect(executionNameOf(run)).toMatch(EXECUTION_NAME)
      }),
    )
  })

  it('AW56, AW59: only the readable part is cut: runs, attempts and numbers keep their names apart', () => {
    fc.assert(
      fc.property(execution, execution, (a, b) => {
        const differ = a.attempt !== b.attempt || a.number !== b.number || a.runId.slice(0, 10) !== b.runId.slice(0, 10)
        fc.pre(differ)
        expect(executionNameOf(a)).not.toBe(executionNameOf(b))
      }),
    )
  })

  it('AW56: two deliveries with a difference in their last digits have different names, also in a repository with a long name', () => {
    const named = (delivery: string) =>
      executionNameOf({
        owner: 'an-organisation',
        name: 'r'.repeat(60),
        number: 5,
        head: sha('head'),
        attempt: 1,
        runId: runIdOf(7, 5, `rerun:${delivery}`),
      })
    const [first, second] = [
      named('089a2a60-4fc8-11f0-8181-e546625a3c66'),
      named('089a2a60-4fc8-11f0-8f1c-58fc4d119409'),
    ]
    expect(first).not.toBe(second)
    expect(first).toMatch(EXECUTION_NAME)
    expect(second).toMatch(EXECUTION_NAME)
  })
})

describe('runIdOf', () => {
  it('AW16: the same pull request and cause are the same run, for any delivery or installation', () => {
    expect(runIdOf(7, 42, causeOf.head(sha('h'), 'main'))).toBe(runIdOf(7, 42, causeOf.head(sha('h'), 'main')))
  })

  it('LE11: repository, number and cause never run into one another', () => {
    const part = fc.record({ repository: fc.integer({ min: 1 }), number: fc.integer({ min: 1 }), cause: fc.string() })
    fc.assert(
      fc.property(part, part, (a, b) => {
        const same = a.repository === b.repository && a.number === b.number && a.cause === b.cause
        expect(runIdOf(a.repository, a.number, a.cause) === runIdOf(b.repository, b.number, b.cause)).toBe(same)
      }),
    )
    expect(runIdOf(1, 23, 'c')).not.toBe(runIdOf(12, 3, 'c'))
  })

  it('AW17: a retargeted head is another cause than the head alone', () => {
    expect(causeOf.head(sha('h'), 'main')).not.toBe(causeOf.head(sha('h'), 'release'))
  })

  it('title and body stay apart, wherever the line between them is', () => {
    expect(causeOf.text('ab', 'c')).not.toBe(causeOf.text('a', 'bc'))
  })
})

describe('canonical', () => {
  // -0 is 0 in JSON, and no parser of Muster sets an own `__proto__`.
  const plain = fc
    .jsonValue({ noUnicodeString: false })
    .map((value) => JSON.parse(JSON.stringify(value)) as Plain)
    .filter((value) => !JSON.stringify(value).includes('__proto__'))

  it('canonical text is JSON of the same value', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(JSON.parse(canonical(value))).toEqual(value)
      }),
    )
  })

  it('canonical text does not depend on the order of keys', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(canonical(reversed(value))).toBe(canonical(value))
      }),
    )
  })

  it('different values have different texts', () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(canonical(a) === canonical(b)).toBe(canonical(reversed(a)) === canonical(b))
        if (canonical(a) === canonical(b)) expect(a).toEqual(b)
      }),
    )
  })

  it('AW34: an undefined member is no member', () => {
    expect(canonical({ a: 1, b: undefined })).toBe('{"a":1}')
    expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }))
  })

  it('keys are ordered by code unit, not by a language', () => {
    expect(canonical({ ä: 1, z: 2, Z: 3 })).toBe('{"Z":3,"z":2,"ä":1}')
  })

  it('a text with malformed Unicode has a digest, always the same', () => {
    expect(digestOf('\ud800')).toBe(digestOf('\ud800'))
    expect(digestOf('\ud800')).not.toBe(digestOf('\ud801'))
  })
})

describe('sha256', () => {
  it('sha256 of a text is sha256 of its UTF-8 bytes', () => {
    expect(sha256('é')).toBe(sha256(new Uint8Array([0xc3, 0xa9])))
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })
})

/** The same value with the keys of every object in reverse order. */
function reversed(value: Plain): Plain {
  if (Array.isArray(value)) return value.map((item: Plain) => reversed(item))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as { [key: string]: Plain }).map(([key, member]) => [key, reversed(member)])
  return Object.fromEntries(members.toReversed()) as Plain
}
