/** A lens of the simulated world: takes the time, and claims the findings, that its world decides. */
import type { ClaimedFinding } from '../../shared/findings/finding.ts'
import type { Lens, LensInput, LensName, LensOutput } from '../../shared/findings/lens.ts'

export interface LensBehaviour {
  /** ms until the answer. */
  readonly durationMs: number
  readonly findings?: readonly ClaimedFinding[]
  /** Thrown in place of an answer. */
  readonly failure?: Error
}

/** Decided anew for each call of a lens. */
export type LensBehaviourOf = (name: LensName, input: LensInput) => LensBehaviour

/** The lens with the given name; ends at once when its signal aborts, as a real lens does. */
export function simulatedLens(name: LensName, behaviourOf: LensBehaviourOf): Lens {
  return async (input): Promise<LensOutput> => {
    const { durationMs, findings = [], failure } = behaviourOf(name, input)
    const { model } = input
    model?.calls?.asked()
    await waited(durationMs, input.signal)
    if (failure) throw failure
    model?.calls?.answered()
    const coverage = input.files.map(({ path }) => ({ path, state: 'full' }) as const)
    // As a real lens: a lens that has asked a model reports its usage.
    return { findings, coverage, ...(model ? { usage: { model: model.model, inputTokens: 1, outputTokens: 1 } } : {}) }
  }
}

/** A finding at the first added line of a file; none without an added line. */
export function findingAt(file: LensInput['files'][number], more: Partial<ClaimedFinding> = {}): ClaimedFinding[] {
  const added = file.hunks.flatMap(({ lines }) => lines).find(({ kind }) => kind === 'added')
  if (!added) return []
  const location = { kind: 'quote', path: file.path, quote: added.text } as const
  return [
    {
      rule: 'simulated',
      severity: 'medium',
      title: 'A finding',
      why: 'It is so.',
      clears: 'A change.',
      location,
      ...more,
    },
  ]
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
