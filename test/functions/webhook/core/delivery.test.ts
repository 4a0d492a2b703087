import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decision, decide, HANDLED_EVENTS } from '../../../../functions/webhook/core/delivery.ts'
import { isFailure } from '../../../../shared/base/errors.ts'
import type { RunRequest } from '../../../../shared/runs/run.ts'
import { sha } from '../../../shared/samples.ts'

type Json = Record<string, unknown>

/** GitHub's payload, with all members read and a few more. */
function payload(action: string, changes: { pull?: Json; top?: Json } = {}): Json {
  return {
    action,
    number: 42,
    pull_request: {
      title: 'Widgets',
      body: null,
      draft: false,
      updated_at: '2026-01-05T09:00:00Z',
      head: { sha: sha('h1'), ref: 'topic' },
      base: { ref: 'main' },
      ...changes.pull,
    },
    repository: { id: 7, name: 'widgets', owner: { login: 'acme', id: 1 } },
    installation: { id: 70 },
    sender: { login: 'a-person' },
    ...changes.top,
  }
}

const decided = (value: Json, event = 'pull_request') => decide(event, JSON.stringify(value))

function requested(value: Json): RunRequest {
  const decision = decided(value)
  if (decision.kind !== 'run') throw new Error(`Expected a run, got ${decision.kind}`)
  return decision.request
}

function refusalOf(work: () => Decision): string {
  try {
    work()
  } catch (error) {
    if (isFailure(error, 'refused')) return error.code
    throw error
  }
  throw new Error('Expected a refusal, got none')
}

describe('decide: heads', () => {
  it.each(['opened', 'reopened', 'synchronize', 'ready_for_review'])('%s asks for a run of its head', (action) => {
    expect(requested(payload(action))).toMatchObject({
      kind: 'full',
      head: sha('h1'),
      baseRef: 'main',
      cause: `head:${sha('h1')}:main`,
      eventAt: Date.UTC(2026, 0, 5, 9),
      repository: { id: 7, owner: 'acme', name: 'widgets', installationId: 70 },
      opensSeries: action === 'opened' || action === 'reopened',
    })
  })

  it('AW17: opened, synchronize and reopened with one head are one run; another head is another run', () => {
    const ids = ['opened', 'synchronize', 'reopened'].map((action) => requested(payload(action)).runId)
    expect(new Set(ids).size).toBe(1)
    const other = requested(payload('synchronize', { pull: { head: { sha: sha('h2') } } }))
    expect(other.runId).not.toBe(ids[0])
  })

  it('AW16: neither delivery nor installation nor time is part of a run’s identity', () => {
    const later = payload('opened', { pull: { updated_at: '2026-01-06T00:00:00Z' }, top: { installation: { id: 71 } } })
    const [first, second] = [requested(payload('opened')), requested(later)]
    expect(second.runId).toBe(first.runId)
    expect(second.payloadDigest).toBe(first.payloadDigest)
  })

  it('AW35: a delivery without a head commit, or with a malformed head, is refused', () => {
    for (const head of [
      {},
      { sha: '' },
      { sha: 'main' },
      { sha: sha('h1').slice(1) },
      { sha: sha('h1').toUpperCase() },
    ]) {
      expect(refusalOf(() => decided(payload('opened', { pull: { head } })))).toBe('identity_missing')
    }
  })

  it('AW35: a delivery without an installation is refused, as no reply would be possible', () => {
    expect(refusalOf(() => decided(payload('opened', { top: { installation: undefined } })))).toBe('identity_missing')
  })

  it('a head in SHA-256 form is a head too', () => {
    const long = `${sha('h1')}${'0'.repeat(24)}`
    expect(requested(payload('opened', { pull: { head: { sha: long } } })).head).toBe(long)
  })

  it('a retargeted pull request is another cause, and opens a series', () => {
    const retargeted = requested(
      payload('edited', { pull: { base: { ref: 'release' } }, top: { changes: { base: { ref: { from: 'main' } } } } }),
    )
    expect(retargeted).toMatchObject({ kind: 'full', opensSeries: true, cause: `head:${sha('h1')}:release` })
    expect(retargeted.runId).not.toBe(requested(payload('opened')).runId)
  })

  it('D5, C8, AD11: a draft is not reviewed; once ready, its run is the same as if opened ready', () => {
    for (const action of ['opened', 'reopened', 'synchronize', 'edited']) {
      const draft = payload(action, { pull: { draft: true }, top: { changes: { title: {} } } })
      expect(decided(draft)).toEqual({ kind: 'ignored', reason: `draft:pull_request.${action}` })
    }
    expect(requested(payload('ready_for_review')).runId).toBe(requested(payload('synchronize')).runId)
  })
})

describe('decide: the rest', () => {
  it('PR6, H18: an edited text is read by analyzers, once per text, and an empty body counts as none', () => {
    const edited = (pull: Json) => requested(payload('edited', { pull, top: { changes: { body: { from: 'x' } } } }))
    expect(edited({ body: 'a' })).toMatchObject({ kind: 'analyzers', opensSeries: false, head: sha('h1') })
    expect(edited({ body: 'a' }).runId).toBe(edited({ body: 'a' }).runId)
    expect(edited({ body: 'a' }).runId).not.toBe(edited({ body: 'b' }).runId)
    expect(edited({ body: null }).runId).toBe(edited({ body: '' }).runId)
  })

  it('an edit of no reviewed member is ignored by name', () => {
    expect(decided(payload('edited', { top: { changes: {} } }))).toEqual({
      kind: 'ignored',
      reason: 'nothing_read_changed:pull_request.edited',
    })
  })

  it('closed is an event of its own time, even without a head', () => {
    expect(decided(payload('closed', { pull: { head: {} } }))).toMatchObject({
      kind: 'event',
      event: { kind: 'closed', number: 42, cause: `closed:${Date.UTC(2026, 0, 5, 9)}` },
    })
  })

  it.each(['labeled', 'assigned', 'auto_merge_enabled', 'toString', ''])(
    'L11: the action %j is ignored by name',
    (action) => {
      expect(decided(payload(action))).toEqual({
        kind: 'ignored',
        reason: `action_not_handled:pull_request.${action}`,
      })
    },
  )

  it('L11: an unhandled event is ignored without a look at its body', () => {
    for (const event of ['status', 'push', 'check_run', 'ping']) {
      expect(HANDLED_EVENTS).not.toContain(event)
      expect(decide(event, 'no JSON')).toEqual({ kind: 'ignored', reason: `event_not_handled:${event}` })
    }
  })

  it('AW91: a malformed name of an action is not repeated in the reason, which is logged and answered', () => {
    const decision = decided(payload(`gh${'p_'}Zk4Tq9Wm2Xb7Rc1Vn8Ls5Yd3Hf6Jg0Pa4Ue2`))
    expect(decision).toEqual({ kind: 'ignored', reason: 'action_not_handled:pull_request.(unnamed)' })
  })

  it('AW5: a body without JSON, also for a byte order mark, is malformed', () => {
    for (const body of ['', '{', '\ufeff{"a":1}']) {
      expect(refusalOf(() => decide('pull_request', body))).toBe('malformed_body')
    }
  })

  it.each([
    [{ number: 'x' }, 'number'],
    [{ pull_request: null }, 'pull_request'],
    [{ repository: { id: 7, name: '', owner: { login: 'acme' } } }, 'repository.name'],
    [
      { pull_request: { title: 't', updated_at: 'yesterday', head: {}, base: { ref: 'm' } } },
      'pull_request.updated_at',
    ],
  ])('a payload without a required member is refused with the member’s name: %j', (top, member) => {
    expect(() => decided(payload('opened', { top }))).toThrow(`The payload's ${member} differs from GitHub’s payloads.`)
  })

  it('any signed JSON leads to a decision or a refusal, never to another error', () => {
    const mutated = fc.tuple(
      fc.constantFrom('opened', 'edited', 'closed', 'synchronize'),
      fc.constantFrom('number', 'pull_request', 'repository', 'installation', 'changes', 'action'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(mutated, ([action, member, value]) => {
        try {
          expect(['run', 'event', 'ignored']).toContain(decided(payload(action, { top: { [member]: value } })).kind)
        } catch (error) {
          expect(isFailure(error, 'refused')).toBe(true)
        }
      }),
    )
  })
})
