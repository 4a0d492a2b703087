import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REDACTED, redact, withoutValues } from '../../../shared/base/redaction.ts'

/** Secrets are assembled at run time: no scanner may find any in the file. */
const random = 'q7Rt2Wz9Lk4Xv8Bn3Mc6Pd1Fg5Hj0Ys2Ua7Ei4Oo9'
const of = (...pieces: readonly string[]) => pieces.join('')
const keyBody = `${'MIIEpAIBAAKCAQEAx7k'.repeat(4)}\n${'Qm9vIHNlY3JldCBrZXk'.repeat(4)}`

const SECRETS: readonly (readonly [name: string, text: string, prefix: string])[] = [
  ['AWS access key id', of('AK', 'IA', 'Q7RT2WZ9LK4XV8BN'), 'AKIA'],
  ['AWS session key id', of('AS', 'IA', 'Q7RT2WZ9LK4XV8BN'), 'ASIA'],
  ['GitHub personal token', of('gh', 'p_', random.slice(0, 36)), 'ghp_'],
  ['GitHub server token', of('gh', 's_', random.slice(0, 36)), 'ghs_'],
  ['GitHub OAuth token', of('gh', 'o_', random.slice(0, 36)), 'gho_'],
  ['GitHub fine-grained token', of('github', '_pat_', random.slice(0, 22), '_', random), 'github_pat_'],
  ['GitLab token', of('gl', 'pat-', random.slice(0, 20)), 'glpat-'],
  ['npm token', of('np', 'm_', random.slice(0, 36)), 'npm_'],
  ['Slack token', of('xo', 'xb-', '123456789012-', random.slice(0, 24)), 'xoxb-'],
  ['OpenAI key', of('s', 'k-', 'proj-', random), 'sk-proj-'],
  ['Anthropic key', of('s', 'k-', 'ant-api03-', random), 'sk-ant-'],
  ['Stripe key', of('s', 'k_', 'live_', random.slice(0, 24)), 'sk_live_'],
  ['Google API key', of('AI', 'za', random.slice(0, 35)), 'AIza'],
  ['JWT', of('ey', 'J', 'hbGciOiJIUzI1NiJ9', '.', 'ey', 'J', 'zdWIiOiIxMjM0In0', '.', random), 'eyJ'],
]

describe('redact', () => {
  test.each(SECRETS)('RC7: %s keeps its prefix and nothing else', (_, secret, prefix) => {
    for (const text of [secret, `key = "${secret}"`, `a\\n${secret}\\nb`, `(${secret})`, `url?t=${secret}&x=1`]) {
      const clean = redact(text)
      expect(clean).toContain(`${prefix}${REDACTED}`)
      expect(clean).not.toContain(secret.slice(prefix.length, prefix.length + 8))
    }
  })

  test.each(['RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ', ''])(
    'RC7: a %sprivate key is taken out, whole or cut off',
    (kind) => {
      const begin = of('-----BEGIN ', kind, 'PRIVATE', ' KEY-----')
      const end = of('-----END ', kind, 'PRIVATE', ' KEY-----')
      for (const text of [`a\n${begin}\n${keyBody}\n${end}\nb`, `a\n${begin}\n${keyBody}`, `"${begin}\\n${keyBody}"`]) {
        const clean = redact(text)
        expect(clean).not.toContain('MIIE')
        expect(clean).not.toContain('Qm9v')
        expect(clean).toContain(`PRIVATE KEY${REDACTED}`)
      }
      expect(redact(`a\n${begin}\n${keyBody}\n${end}\nb`)).toMatch(/^a\n.*\nb$/s)
    },
  )

  test('RC7: an AWS secret is recognised by its name, a password by its place in a URL', () => {
    const secret = random.slice(0, 40)
    expect(redact(`aws_secret_access_key=${secret}`)).toBe(`aws_secret_access_key=${secret.slice(0, 4)}${REDACTED}`)
    expect(redact(`postgres://app:${random.slice(0, 12)}@db/x`)).toBe(`postgres://app:${REDACTED}@db/x`)
  })

  test('RC7: a quoted random value of a secret name is redacted', () => {
    expect(redact(`const password = "${random.slice(0, 20)}"`)).toBe(`const password = "${REDACTED}"`)
    expect(redact(`apiKey: '${random.slice(0, 20)}',`)).toBe(`apiKey: '${REDACTED}',`)
  })

  test.each([
    'password = "correct horse battery"',
    `token: "$${'{{'} secrets.GITHUB_TOKEN }}"`,
    'const secret = process.env.SECRET',
    'password: "<your-password-123>"',
    `postgres://app:$${'{'}PASSWORD}@db/x`,
    'class="sk-circle-fade-dot sk-chase-dot-before-animated"',
    'task-runner-and-disk-usage-monitoring-12',
    'sha256:9b9189b4b0a8f1c58fc4d11940908f1c58fc4d119409',
  ])('a text without a secret stays readable: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  test('a second redaction changes nothing', () => {
    const piece = fc.oneof(
      fc.constantFrom(...SECRETS.map(([, secret]) => secret), of('-----BEGIN ', 'PRIVATE', ' KEY-----'), '-----END '),
      fc.constantFrom('password="', '"', ' ', '\n', '://a:', '@', '=', 'eyJ', '.', REDACTED),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = redact(pieces.join(''))
        expect(redact(once)).toBe(once)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['keys that begin and never end', of('-----BEGIN ', 'PRIVATE', ' KEY-----')],
    ['tokens inside tokens', 'eyJ'],
    ['tokens with dots', 'eyJaaaaaaaa.'],
    ['names of secrets', 'secret'],
    ['assignments', 'password = "'],
    ['schemes', 'a://b:'],
    ['prefixes', 'sk-'],
    ['blanks after a name', `token${' '.repeat(30)}`],
    ['underscores', 'ghp_'],
    ['one long word', 'A'],
  ])('redaction takes linear time on %s', (_, unit) => {
    const text = unit.repeat(Math.ceil(400_000 / unit.length))
    const started = performance.now()
    redact(text)
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

describe('withoutValues', () => {
  test('withoutValues removes the given values, the longest first, and leaves words alone', () => {
    expect(withoutValues('id=abcdefgh1234 and abcdefgh', ['abcdefgh', 'abcdefgh1234', 'and'])).toBe(
      `id=abcd${REDACTED} and abcd${REDACTED}`,
    )
  })
})
