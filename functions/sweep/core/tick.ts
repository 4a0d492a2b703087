/** What one sweep does once, however many rows ask for it. */
export interface Tick {
  /** Runs `effect` at the first call of that name; later calls settle as that one does. */
  once(name: string, effect: () => Promise<void>): Promise<void>
}

export function newTick(): Tick {
  const begun = new Map<string, Promise<void>>()
  return {
    once(name, effect) {
      const known = begun.get(name) ?? effect()
      begun.set(name, known)
      return known
    },
  }
}
