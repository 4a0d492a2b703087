import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { secrets } from '../../../../functions/review/lenses/secrets/secrets.ts'
import { groundClaims } from '../../../../shared/findings/grounding.ts'
import { addedFile, changedFile, lensInput, PULL_REQUEST } from './lens-input.ts'

/** Assembled at run time: no scanner may find a secret in the file. */
const AWS_ID = ['AK', 'IA', 'Q7RT2WZ9LK4XV8BN'].join('')
const GITHUB_TOKEN = ['gh', 'p_', 'q7Rt2Wz9Lk4Xv8Bn3Mc6Pd1Fg5Hj0Ys2Ua7E'].join('')
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()

/** Findings after grounding, as stored. */
async function stored(input: ReturnType<typeof lensInput>, texts: Readonly<Record<string, string>> = {}) {
  const { findings } = await secrets(input)
  return groundClaims(findings, {
    lens: 'secrets',
    files: input.files,
    texts: (path) => texts[path],
    head: PULL_REQUEST.head,
    openFindings: [],
  })
}

describe('secrets', () => {
  test('an AWS key id and a token are found at their exact lines, critical and fenced', async () => {
    const { findings } = await secrets(lensInput([addedFile('a.env', `x=1\nID=${AWS_ID}\n\nT=${GITHUB_TOKEN}\n`)]))
    expect(findings.map(({ rule, severity, fenced, location }) => ({ rule, severity, fenced, location }))).toEqual(
      [
        { rule: 'aws-access-key-id', line: 2 },
        { rule: 'github-token', line: 4 },
      ].map(({ rule, line }) => ({
        rule,
        severity: 'critical',
        fenced: true,
        location: { kind: 'lines', path: 'a.env', side: 'RIGHT', startLine: line, line },
      })),
    )
  })

  test('RC7: the value is in no stored text, title included', async () => {
    const body = PRIVATE_KEY.split('\n')[3] ?? ''
    const text = `id = ${AWS_ID}\ntoken = ${GITHUB_TOKEN}\n${PRIVATE_KEY}`
    const { findings } = await stored(lensInput([addedFile('a.txt', text)]))
    const kept = JSON.stringify(findings)
    expect(findings).toHaveLength(3)
    for (const secret of [AWS_ID, GITHUB_TOKEN, body]) expect(kept).not.toContain(secret.slice(8))
    expect(kept).toContain('AKIA…[redacted]')
  })

  test('a private key over several lines is found as one range', async () => {
    const { findings } = await secrets(lensInput([addedFile('key.pem', `# key\n${PRIVATE_KEY}`)]))
    const last = PRIVATE_KEY.trimEnd().split('\n').length + 1
    expect(findings).toMatchObject([{ rule: 'private-key', location: { startLine: 2, line: last } }])
  })

  test('a key with only some added lines is found, and no line of the key is shown', async () => {
    const lines = PRIVATE_KEY.trimEnd().split('\n')
    const patch = `@@ -4,2 +4,3 @@\n ${lines[3]}\n+${lines[4]}\n ${lines[5]}`
    const file = changedFile('key.pem', patch)
    const texts = { 'key.pem': PRIVATE_KEY }
    const { findings } = await stored(lensInput([file], { texts }), texts)
    expect(findings).toMatchObject([{ location: { startLine: 4, line: 6, inDiff: true } }])
    for (const line of lines.slice(3, 6)) expect(JSON.stringify(findings)).not.toContain(line.slice(8))
  })

  test('a secret from before the change is no finding', async () => {
    const file = changedFile('a.env', `@@ -1,2 +1,2 @@\n ID=${AWS_ID}\n-x=1\n+x=2`)
    const texts = { 'a.env': `ID=${AWS_ID}\nx=2\n` }
    expect((await secrets(lensInput([file], { texts }))).findings).toEqual([])
    expect((await secrets(lensInput([file]))).findings).toEqual([])
  })

  test('lines map back over several hunks without the text of the head', async () => {
    const file = changedFile('a.env', `@@ -1 +1,2 @@\n a\n+b\n@@ -50 +51,2 @@\n c\n+ID=${AWS_ID}`)
    expect((await secrets(lensInput([file]))).findings).toMatchObject([{ location: { startLine: 52, line: 52 } }])
  })

  test('CRLF text is scanned, and a large new file without a patch', async () => {
    const file = changedFile('big.txt', undefined, 'added')
    const texts = { 'big.txt': `one\r\ntwo ${AWS_ID}\r\n` }
    const { findings, coverage } = await secrets(lensInput([file], { texts }))
    expect(findings).toMatchObject([{ location: { line: 2 } }])
    expect(coverage).toEqual([{ path: 'big.txt', state: 'full' }])
  })

  test('P8: a comment in the pull request does not switch the check off', async () => {
    const text = `// secretlint-disable\nconst id = "${AWS_ID}" // secretlint-disable-line\n`
    expect((await secrets(lensInput([addedFile('a.js', text)]))).findings).toHaveLength(1)
  })

  test('an account number and a documented example are no secrets', async () => {
    const example = ['AK', 'IA', 'IOSFODNN7EXAMPLE'].join('')
    const text = `AWS_ACCOUNT_ID="123456789012"\nid = ${example}\n`
    expect((await secrets(lensInput([addedFile('a.txt', text)]))).findings).toEqual([])
  })

  test('coverage is stated for each file, and a missing diff is not read, never clean', async () => {
    const files = [
      addedFile('a.txt', 'a'),
      changedFile('gone.txt', '@@ -1 +0,0 @@\n-x', 'removed'),
      changedFile('huge.txt', undefined),
    ]
    const { coverage } = await secrets(lensInput(files))
    expect(coverage.map(({ path, state }) => [path, state])).toEqual([
      ['a.txt', 'full'],
      ['gone.txt', 'full'],
      ['huge.txt', 'not_read'],
    ])
  })

  test('H13: a path in another script, with a quote and a tab, comes back to the byte', async () => {
    const path = '한국어/é" \t.env'
    expect((await secrets(lensInput([addedFile(path, AWS_ID)]))).findings).toMatchObject([{ location: { path } }])
  })

  test('an aborted review ends with the reason of its signal', async () => {
    const reason = new Error('the lease is lost')
    const input = lensInput([addedFile('a.txt', 'a')], { signal: AbortSignal.abort(reason) })
    await expect(secrets(input)).rejects.toBe(reason)
  })
})
