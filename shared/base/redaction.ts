/**
 * Removes everything that looks like a secret from a text, before the text is stored, logged or posted (RC7, I8). A
 * prefix stays, by which people recognise the secret. Every pattern is bounded, so that the time is linear in the
 * length of any text.
 */
import { CONCEALED_CHARS_MIN, RANDOM_BITS_PER_CHARACTER_MIN, REDACTED_PREFIX_CHARS } from './limits.ts'

/** Replaces the rest of a secret. */
export const REDACTED = '…[redacted]'

/** Cuts every recognised secret down to its prefix. A second redaction changes nothing. */
export function redact(text: string): string {
  let clean = withoutPrivateKeys(text)
  for (const { pattern, shown } of TOKENS) {
    clean = clean.replace(pattern, (token: string) => token.slice(0, shown(token)) + REDACTED)
  }
  return clean
    .replace(
      AWS_SECRET,
      (_, name: string, value: string) => `${name}${value.slice(0, REDACTED_PREFIX_CHARS)}${REDACTED}`,
    )
    .replace(URL_PASSWORD, (match: string, before: string, password: string) =>
      isPlaceholder(password) ? match : `${before}${REDACTED}`,
    )
    .replace(ASSIGNMENT, (match: string, before: string, quote: string, value: string) =>
      looksRandom(value) ? `${before}${quote}${REDACTED}${quote}` : match,
    )
}

/** Redacts line by line, so that lines keep their numbers; of a private key, every line is redacted. */
export function redactLines(lines: readonly string[]): readonly string[] {
  let insideKey = false
  return lines.map((line) => {
    const wasInside = insideKey
    if (/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(line)) insideKey = true
    if (line.includes(KEY_END)) insideKey = false
    return wasInside ? REDACTED : redact(line)
  })
}

/** Cuts known secret values down to their first characters. */
export function withoutValues(text: string, values: readonly string[]): string {
  return [...values]
    .filter((value) => value.length >= CONCEALED_CHARS_MIN)
    .sort((a, b) => b.length - a.length)
    .reduce((clean, value) => clean.replaceAll(value, value.slice(0, REDACTED_PREFIX_CHARS) + REDACTED), text)
}

interface TokenPattern {
  readonly pattern: RegExp
  /** How many characters of a token stay. */
  readonly shown: (token: string) => number
}

/** A token starts where no word goes on; the `n` of an escaped line feed is no word. */
const START = String.raw`(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))`

/**
 * `prefix` is the fixed text of a kind of token; `body` is bounded. Only the prefix stays readable. The rest of the
 * word goes too: the token may be longer than its known form.
 */
function token(prefix: string, body: string): TokenPattern {
  const head = new RegExp(`^(?:${prefix})`)
  return {
    pattern: new RegExp(`${START}(?:${prefix})${body}[A-Za-z0-9_]*`, 'g'),
    shown: (found) => head.exec(found)?.[0].length ?? 0,
  }
}

/** Ordered: a pattern that contains another comes first. */
const TOKENS: readonly TokenPattern[] = [
  // AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html (unique id prefixes)
  token('A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA', '[A-Z0-9]{16}'),
  token('github_pat_', '[A-Za-z0-9_]{20,255}'),
  token('gh[opusr]_', '[A-Za-z0-9_]{20,255}'),
  token('glpat-', '[A-Za-z0-9_-]{20,255}'),
  token('npm_', '[A-Za-z0-9]{36}'),
  token('xox[abeoprs]-', '[A-Za-z0-9-]{10,255}'),
  token('xapp-', '[A-Za-z0-9-]{10,255}'),
  token('https://hooks\\.slack\\.com/services/', '[A-Za-z0-9/_-]{20,255}'),
  token('sk-ant-', '[A-Za-z0-9_-]{20,255}'),
  // OpenAI's keys have a digit; class names in style sheets with the same beginning have none.
  token('sk-(?:proj-|svcacct-|admin-|or-)?', '(?=[A-Za-z_-]{0,255}[0-9])[A-Za-z0-9_-]{20,255}'),
  token('[rs]k_(?:live|test)_', '[A-Za-z0-9]{16,255}'),
  token('AIza', '[A-Za-z0-9_-]{35}'),
  token('GOCSPX-', '[A-Za-z0-9_-]{20,64}'),
  token('SG\\.', '[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}'),
  token('hf_', '[A-Za-z0-9]{30,64}'),
  token('gsk_', '[A-Za-z0-9]{40,64}'),
  // JSON Web Token: header and payload are JSON objects in base64url, so both begin with `eyJ`.
  token('eyJ', '[A-Za-z0-9_-]{8,512}\\.eyJ[A-Za-z0-9_-]{8,4096}\\.[A-Za-z0-9_-]{8,1024}'),
]

/** An AWS secret access key has no shape of its own, so the name before the value decides. */
const AWS_SECRET = /(secret_?access_?key["'`]?\s{0,8}(?::|=>|=)\s{0,8}["'`]?)([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/gi

/** The password in `scheme://user:password@host`. */
const URL_PASSWORD = /([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/'"`]{0,64}:)([^\s@/'"`]{3,128})(?=@)/gi

/** A quoted value after a secret name. */
const ASSIGNMENT =
  /((?:password|passwd|pwd|secret|token|api_?key|access_?key|private_?key|credential)s?["'`]?\s{0,8}(?::|=>|={1,3})\s{0,8})(["'`])([^"'`\s]{12,256})\2/gi

/** Placeholders and redacted values are no secrets. */
function isPlaceholder(value: string): boolean {
  return /^[$<{%*[]|\{\{|\$\{/.test(value) || value.includes(REDACTED)
}

/** Conservative: a placeholder, a path, or plain words must stay readable in a review. */
function looksRandom(value: string): boolean {
  if (isPlaceholder(value)) return false
  if (!/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false
  return bitsPerCharacter(value) >= RANDOM_BITS_PER_CHARACTER_MIN
}

/** Shannon entropy of the characters of a value. */
function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

const KEY_BEGIN = /-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)?-----/g
const KEY_END = '-----END '
/** Content of a key without an end: base64 with line ends, also escaped. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\"',]{0,16384}/y

/** Redacts private key blocks, whole or with their end cut off. Each position is read once. */
function withoutPrivateKeys(text: string): string {
  let clean = ''
  let from = 0
  let end = -1
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < from) continue
    const body = begin.index + begin[0].length
    if (end < body && end !== Number.POSITIVE_INFINITY) {
      const found = text.indexOf(KEY_END, body)
      end = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    clean += `${text.slice(from, begin.index)}-----BEGIN ${begin[1] ?? ''}PRIVATE KEY${REDACTED}`
    from = Number.isFinite(end) ? endOfLabel(text, end) : endOfBody(text, body)
  }
  return clean + text.slice(from)
}

function endOfLabel(text: string, end: number): number {
  const label = /-----END [A-Z0-9 ]{0,60}-{0,5}/y
  label.lastIndex = end
  return label.test(text) ? label.lastIndex : end
}

function endOfBody(text: string, body: number): number {
  KEY_BODY.lastIndex = body
  return KEY_BODY.test(text) ? KEY_BODY.lastIndex : body
}
