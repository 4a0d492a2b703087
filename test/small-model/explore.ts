/** Visits every reachable state once, depth first; the steps to a wrong state are the proof of the mistake. */

export interface Step<State> {
  readonly label: string
  readonly to: State
}

export interface Explored {
  readonly states: number
  readonly steps: number
}

export class Wrong extends Error {
  override readonly name = 'Wrong'
  constructor(why: string, way: readonly string[]) {
    super(`${why}\n${way.map((label, index) => `  ${index + 1}. ${label}`).join('\n')}`)
  }
}

/** `stepsFrom` throws for a wrong state or step; `explore` then rejects with Wrong and the steps to the mistake. */
export async function explore<State>(
  first: State,
  keyOf: (state: State) => string,
  stepsFrom: (state: State) => Promise<readonly Step<State>[]>,
  statesMax: number,
): Promise<Explored> {
  const seen = new Set<string>([keyOf(first)])
  const way: { label: string; open: Step<State>[] }[] = []
  let steps = 0

  async function enter(label: string, state: State): Promise<void> {
    way.push({ label, open: [] })
    try {
      const found = await stepsFrom(state)
      steps += found.length
      way.at(-1)?.open.push(...found.toReversed())
    } catch (error) {
      const labels = way.map((at) => at.label)
      throw new Wrong(error instanceof Error ? (error.stack ?? error.message) : String(error), labels)
    }
  }

  await enter('begins', first)
  for (let at = way.at(-1); at; at = way.at(-1)) {
    const step = at.open.pop()
    if (!step) {
      way.pop()
      continue
    }
    const key = keyOf(step.to)
    if (seen.has(key)) continue
    seen.add(key)
    if (seen.size > statesMax) throw new Error(`more than ${statesMax} states`)
    await enter(step.label, step.to)
  }
  return { states: seen.size, steps }
}
