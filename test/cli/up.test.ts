/** A stack that stays up, and the commands that find the stack: one state, several processes. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import { type Command, endAll, start } from './process.ts'
import { makeRepository } from './repositories.ts'

/** Several starts of a stack on a machine busy with other tests, ms. */
const TIMEOUT_MS = 150_000

const folder = mkdtempSync(path.join(tmpdir(), 'muster-up-'))
const state = path.join(folder, 'state')
const repository = makeRepository(path.join(folder, 'widgets'))
repository.commit('Base', { '.github/muster.yml': 'lenses:\n  correctness: off\n' })
repository.git('checkout', '--quiet', '-b', 'topic')
repository.commit('Add a workflow', { '.github/workflows/build.yml': 'on: push\njobs:\n  build:\n    needs: nope\n' })
const review = ['review', '--repo', repository.directory, '--base', 'main', '--state', state]
const upFile = path.join(state, 'up.json')

let up: Command

beforeAll(async () => {
  up = start(['up', '--port', '0', '--state', state])
  await up.says(/Muster is up\.[\s\S]*Ctrl-C stops the stack/)
}, TIMEOUT_MS)

afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

describe('while a stack is up', () => {
  test('the control server is open to holders of a token, in a file that only its owner may read', async () => {
    expect(statSync(upFile).mode & 0o777).toBe(0o600)
    const { controlUrl, token } = JSON.parse(readFileSync(upFile, 'utf8')) as { controlUrl: string; token: string }
    const statusWith = async (authorization: string) =>
      (await fetch(controlUrl, { headers: { authorization }, signal: AbortSignal.timeout(TIMEOUT_MS) })).status
    expect(await statusWith(`Bearer ${token}`)).toBe(200)
    expect(await statusWith(`Bearer ${token.slice(1)}`)).toBe(401)
    expect(await statusWith('')).toBe(401)
  })

  test(
    'a review goes through the stack: only the result on stdout, progress on stderr, the verdict as exit code',
    async () => {
      const markdown = await start(review).ended
      expect(markdown.stdout).toMatch(/^## Muster: concerns\n[\s\S]*needs job[\s\S]*\n$/)
      expect(markdown.stderr).toMatch(
        new RegExp(`^Using the running stack \\(process ${up.pid}\\)\\.\nPull request local/`),
      )
      expect(markdown.stderr).toMatch(/ {2}workflows +\d finding/)
      expect(markdown.code).toBe(EXIT_CODES.findings.code)

      const json = await start([...review, '--json', '--quiet']).ended
      const conclusion = JSON.parse(json.stdout) as Conclusion
      expect(conclusion).toMatchObject({ verdict: 'concerns', head: repository.git('rev-parse', 'topic') })
      expect([json.code, json.stderr]).toEqual([EXIT_CODES.findings.code, ''])

      const sarif = await start([...review, '--sarif']).ended
      const [run] = (JSON.parse(sarif.stdout) as { runs: { results: unknown[] }[] }).runs
      expect(run?.results).toHaveLength(conclusion.findings.length)
      expect(sarif.stderr).toContain('is already reviewed; nothing was posted.')
    },
    TIMEOUT_MS,
  )

  test(
    'a model for the call alone is reported as without effect',
    async () => {
      const environment = {
        MUSTER_MODEL: 'other',
        MUSTER_MODEL_URL: 'http://127.0.0.1:9',
        MUSTER_MODEL_KEY: 'secret-key',
      }
      const { stdout, stderr } = await start(review, 'main.ts', environment).ended
      expect(stderr).toMatch(/The model of that stack is none: MUSTER_MODEL takes effect only where a stack starts/)
      expect(stdout + stderr).not.toContain('secret-key')
    },
    TIMEOUT_MS,
  )

  test(
    'the commands show the fleet, change limits, set and lift a halt, and retry and cancel a run',
    async () => {
      const operate = async (...args: string[]) => {
        const { code, stdout, stderr } = await start([...args, '--state', state]).ended
        expect([args, code, stderr]).toEqual([args, EXIT_CODES.pass.code, ''])
        return stdout
      }
      expect(await operate('fleet')).toMatch(/^0 reviews at work, 0 waiting\.[\s\S]*^fleet +15 +15 +0$/m)
      expect(await operate('fleet', 'set', '--concurrency', '9', '--pool', 'external=4')).toMatch(/^fleet +9 +9 +0$/m)
      expect(JSON.parse(await operate('fleet', '--json'))).toMatchObject({ fleet: { configured: 9 }, revision: 1 })
      expect(await operate('fleet', 'set', '--concurrency', 'default')).toMatch(/^fleet +15 +15 +0$/m)
      expect(await operate('halt', 'repository/7', '--why', 'noise')).toMatch(/^Halted: repository\/7, by .*: noise$/m)
      expect(await operate('resume', 'repository/7')).toMatch(/^The halt of repository\/7 is lifted\./)
      const { runId: run } = JSON.parse((await start([...review, '--json', '--quiet']).ended).stdout) as {
        runId: string
      }
      expect(await operate('retry', run)).toBe('Nothing is missing: the run read everything.\n')
      expect(await operate('cancel', run)).toBe('The run had ended already: reviewed.\n')
    },
    TIMEOUT_MS,
  )

  test(
    'a refusal of the API is one line with its code and remedy, and ends with 64',
    async () => {
      const cases: [string[], RegExp][] = [
        [['fleet', 'set', '--pool', 'external=50'], /^muster: limit_above_ceiling: .*external.* 16.*\n$/],
        [['halt', 'acme/widgets'], /^muster: unknown_scope: .*repository\/<id>.*\n$/],
        [['cancel', 'nope'], /^muster: unknown_run: .*\n$/],
      ]
      for (const [args, line] of cases) {
        const { code, stdout, stderr } = await start([...args, '--state', state]).ended
        expect(stderr).toMatch(line)
        expect([code, stdout]).toEqual([EXIT_CODES.usage.code, ''])
      }
    },
    TIMEOUT_MS,
  )

  test(
    'a second stack on the state is refused with the holder’s process id, and leaves the first stack alone',
    async () => {
      const { code, stderr } = await start(['up', '--port', '0', '--state', state]).ended
      expect(stderr).toMatch(new RegExp(`^muster: state_in_use: .* process ${up.pid}\\. .*--state.*\n$`, 'm'))
      expect(code).toBe(EXIT_CODES.unavailable.code)
      expect(existsSync(upFile)).toBe(true)
      expect((await start([...review, '--quiet']).ended).code).toBe(EXIT_CODES.findings.code)
    },
    TIMEOUT_MS,
  )
})

test(
  'after a kill -9 the next call starts a stack of its own on the same state and finds the stored review',
  async () => {
    up.kill('SIGKILL')
    await up.ended
    expect(existsSync(upFile)).toBe(true)
    const { code, stderr } = await start(review).ended
    expect(stderr).not.toContain('Using the running stack')
    expect(stderr).toContain('is already reviewed; nothing was posted.')
    expect(code).toBe(EXIT_CODES.findings.code)
  },
  TIMEOUT_MS,
)

test(
  'Ctrl-C ends a stack cleanly, with exit 0 and without up.json',
  async () => {
    const stack = start(['up', '--port', '0', '--state', state])
    await stack.says(/Ctrl-C stops the stack/)
    stack.kill('SIGINT')
    const { code, stderr } = await stack.ended
    expect(stderr).toMatch(/Stopping\. Unfinished reviews continue at the next start\.\n$/)
    expect(code).toBe(EXIT_CODES.pass.code)
    expect(existsSync(upFile)).toBe(false)
  },
  TIMEOUT_MS,
)

test(
  'Ctrl-C during a review announces the continuation, and the next call continues',
  async () => {
    repository.commit('Add a text', { 'a.txt': 'a\n' })
    const call = start(review)
    await call.says(/Pull request local\//)
    call.kill('SIGINT')
    const interrupted = await call.ended
    expect(interrupted.stderr).toMatch(
      /Interrupted\. Nothing is lost: the next call for this head continues the review/,
    )
    expect([interrupted.code, interrupted.stdout]).toEqual([EXIT_CODES.interrupted.code, ''])
    const next = await start(review).ended
    expect(next.stdout).toContain(repository.git('rev-parse', 'topic'))
    expect(next.code).toBe(EXIT_CODES.findings.code)
  },
  TIMEOUT_MS,
)
