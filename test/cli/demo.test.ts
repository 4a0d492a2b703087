/** `npm start`: a newcomer's first sight. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { endAll, start } from './process.ts'

/** Two starts of a stack, with a synth, on a machine busy with other tests, ms. */
const TIMEOUT_MS = 300_000

const state = mkdtempSync(path.join(tmpdir(), 'muster-demo-'))
afterAll(async () => {
  await endAll()
  rmSync(state, { recursive: true, force: true })
})

test(
  'the example is reviewed with a finding of each analyzer; a second start repeats the verdict and posts nothing',
  async () => {
    const once = ['--once', '--state', state]
    const first = await start(once, 'demo.ts').ended
    expect(first.stderr).toMatch(/The review on the pull request: http:\/\/127\.0\.0\.1:\d+\/acme\/parcels\/pull\/1\n$/)
    for (const lens of ['secrets', 'workflows', 'description']) {
      expect(first.stdout).toMatch(new RegExp(`· lens ${lens} ·`))
    }
    expect(first.stderr).not.toContain('already reviewed')
    expect(first.code).toBe(0)

    const second = await start(once, 'demo.ts').ended
    expect(second.stderr).toMatch(/was already reviewed: .* nothing was posted/)
    expect(second.stdout).toBe(first.stdout)
    expect(second.code).toBe(0)
  },
  TIMEOUT_MS,
)
