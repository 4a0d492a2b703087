/** GitHub's two notations of an instant. */

/** `2026-11-29T14:27:11Z`: whole seconds, as everywhere in GitHub's API. */
export function iso(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

export function isoOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : iso(milliseconds)
}
