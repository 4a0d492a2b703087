import { describe, expect, it } from 'vitest'
import { decide } from '../../../../functions/webhook/core/delivery.ts'
import { isFailure } from '../../../../shared/base/errors.ts'

type Json = Record<string, unknown>
const person = { login: 'mia', type: 'User' }

function payload(changes: { comment?: Json; issue?: Json; top?: Json } = {}): Json {
  return {
    action: 'created',
    issue: { number: 42, pull_request: { url: 'u' }, updated_at: '2026-01-05T09:00:00Z', ...changes.issue },
    comment: { id: 900, body: '/muster status', user: person, ...changes.comment },
    repository: { id: 7, name: 'widgets', owner: { login: 'acme' } },
    installation: { id: 70 },
    sender: person,
    ...changes.top,
  }
}
const decided = (value: Json) => decide('issue_comment', JSON.stringify(value))
const digest = (value: Json) => {
  const decision = decided(value)
  return decision.kind === 'event' && decision.event.kind === 'command' ? decision.event.payloadDigest : undefined
}

describe('decide: comments', () => {
  it('AD10: a command is an event with its comment as the cause', () => {
    expect(decided(payload())).toEqual({
      kind: 'event',
      event: {
        kind: 'command',
        repository: { id: 7, owner: 'acme', name: 'widgets', installationId: 70 },
        number: 42,
        cause: 'comment:900',
        eventAt: Date.UTC(2026, 0, 5, 9),
        commentId: 900,
        author: 'mia',
        text: '/muster status',
        payloadDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
  })

  const ignored: [string, Json, string][] = [
    ['B1: of our own', payload({ comment: { user: { login: 'muster[bot]', type: 'Bot' } } }), 'not_a_person'],
    ['B1: of another bot', payload({ top: { sender: { login: 'x[bot]', type: 'Bot' } } }), 'not_a_person'],
    ['of a deleted account', payload({ comment: { user: null } }), 'not_a_person'],
    ['B3: in a code span', payload({ comment: { body: '`/muster review`' } }), 'not_addressed'],
    ['B3: in a quote', payload({ comment: { body: '> /muster review' } }), 'not_addressed'],
    ['H18: without a body', payload({ comment: { body: null } }), 'not_addressed'],
    ['on an issue', payload({ issue: { pull_request: null } }), 'not_a_pull_request'],
    ['after an edit', payload({ top: { action: 'edited' } }), 'action_not_handled:issue_comment.edited'],
  ]
  it.each(ignored)('a comment %s is ignored silently', (_name, value, reason) => {
    expect(decided(value)).toEqual({ kind: 'ignored', reason })
  })

  it('LE15: another text or author is another meaning of the same comment; new members of GitHub’s are not', () => {
    const first = digest(payload())
    expect(digest(payload({ top: { extra: 1 }, issue: { updated_at: '2026-01-05T09:00:01Z' } }))).toBe(first)
    expect(digest(payload({ comment: { body: '/muster pause' } }))).not.toBe(first)
    expect(digest(payload({ comment: { user: { login: 'rob', type: 'User' } } }))).not.toBe(first)
  })

  it('RC7: a secret in a command is stored redacted, and a long comment cut', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const decision = decided(payload({ comment: { body: `/muster pause ${token} ${'x'.repeat(5_000)}` } }))
    const text = decision.kind === 'event' && decision.event.kind === 'command' ? decision.event.text : ''
    expect(text).not.toContain(token)
    expect(text.length).toBeLessThan(2_100)
  })

  it('AW35: without an installation nothing is recorded', () => {
    try {
      decided(payload({ top: { installation: undefined } }))
      throw new Error('Expected a refusal, got none')
    } catch (error) {
      expect(isFailure(error, 'refused') && error.code).toBe('identity_missing')
    }
  })
})
