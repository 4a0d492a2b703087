/**
 * Canaries: texts in the form of secrets, assembled at run time, each planted at one entry, and traceable to every
 * exit.
 */
import { randomBytes } from 'node:crypto'

/** A text that must not leave Muster, and its entry. */
export interface Canary {
  readonly place: string
  /** Parts that occur only in the secret itself: not the prefix, by which people recognise the secret's kind. */
  readonly traces: readonly string[]
  /** Of the repository or the pull request: stored unchanged with the texts for lenses, and nowhere else. */
  readonly material: boolean
}

/** All canaries planted until now. */
export const canaries: Canary[] = []
/** Hexadecimal digits. */
export const random = (characters: number) => randomBytes(characters).toString('hex').slice(0, characters)

/** Plants a text of the caller's own; returns the text. */
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
/** A canary without the form of a secret: its occurrence shows that content was passed on against the rules. */
export const word = (place: string) => {
  const secret = random(24)
  return plant(place, secret, [secret], false)
}

/** The canaries with a trace in the text, by their entries. */
export function seenIn(text: string, which: (canary: Canary) => boolean = () => true): string[] {
  return canaries
    .filter((canary) => which(canary) && canary.traces.some((trace) => text.includes(trace)))
    .map(({ place }) => place)
}
