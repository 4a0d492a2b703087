/** Canaries: texts that look like secrets, assembled at run time, each planted in one place, and found wherever it gets to. */
import { randomBytes } from 'node:crypto'

/** What must not go out, and from where it came in. */
export interface Canary {
  readonly place: string
  /** Parts that are found only where the secret itself is: not the prefix, by which people recognise what was meant. */
  readonly traces: readonly string[]
  /** Of the repository or the pull request: stored as it is with the texts that lenses read, and nowhere else. */
  readonly material: boolean
}

/** All that were planted so far. */
export const canaries: Canary[] = []
/** Hexadecimal digits. */
export const random = (characters: number) => randomBytes(characters).toString('hex').slice(0, characters)

/** Plants a text of the caller's own; answers it. */
export function plant(place: string, text: string, traces: readonly string[], material: boolean): string {
  canaries.push({ place, traces, material })
  return text
}
export const awsKey = (place: string, material = false) => {
  const secret = random(16).toUpperCase()
  return plant(place, `AKIA${secret}`, [secret], material)
}
export const token = (place: string, material = false) => {
  const secret = random(36)
  return plant(place, `ghp_${secret}`, [secret], material)
}
export const privateKey = (place: string, material = false) => {
  const lines = [1, 2, 3].map(() => randomBytes(48).toString('base64').replaceAll(/[+/]/g, 'A'))
  const label = `${['RSA', 'PRIVATE'].join(' ')} KEY-----`
  return plant(place, `-----BEGIN ${label}\n${lines.join('\n')}\n-----END ${label}`, lines, material)
}
/** Has no shape: wherever it is found, content was passed on that should not have been. */
export const word = (place: string) => {
  const secret = random(24)
  return plant(place, secret, [secret], false)
}

/** The canaries of which a trace stands in the text, by their places. */
export function seenIn(text: string, which: (canary: Canary) => boolean = () => true): string[] {
  return canaries
    .filter((canary) => which(canary) && canary.traces.some((trace) => text.includes(trace)))
    .map(({ place }) => place)
}
