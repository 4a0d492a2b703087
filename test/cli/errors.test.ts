/** A failure is one line with a code and a remedy; a stack goes to a file, never to the terminal. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { CommandFailure, report } from '../../cli/errors.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { StateError } from '../../infra/local/dynamodb/errors.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'muster-errors-'))
afterAll(() => rmSync(folder, { recursive: true }))

const { usage, unavailable, internal } = EXIT_CODES

async function portInUse(): Promise<unknown> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return new Promise((resolve) => {
    createServer()
      .once('error', (error) => server.close(() => resolve(error)))
      .listen(port, '127.0.0.1')
  })
}

describe('each known failure has a code, a remedy and an exit code, in a single line', () => {
  const cases: [string, () => unknown | Promise<unknown>, RegExp, number][] = [
    [
      'a failure of the command line',
      () => new CommandFailure('ref_unknown', 'There is\nno such ref.', 'Name another.', 'usage'),
      /^muster: ref_unknown: There is no such ref\. Name another\.$/,
      usage.code,
    ],
    [
      'the state in use, as the table says it',
      () => new StateError('state_in_use', 'The state in /s/table is in use by process 41. Stop it.'),
      /^muster: state_in_use: The state is in use by process 41\. .*--state/,
      unavailable.code,
    ],
    [
      'the state in use, as another service says it',
      () => new Error('github_state_in_use: the GitHub state in /s/github is open in another process. Stop that one.'),
      /^muster: state_in_use: The state is in use by another process\. .*--state/,
      unavailable.code,
    ],
    ['a port in use', portInUse, /^muster: port_in_use: Port \d+ is in use .*--port 0/, unavailable.code],
    [
      'a message that has its code in itself',
      () => new Error("not_a_git_repository: /x can't be read. Name a clone's folder."),
      /^muster: not_a_git_repository: \/x can't be read\. Name a clone's folder\.$/,
      usage.code,
    ],
    [
      'git missing, behind whatever needed it',
      () =>
        new Error('example_not_made: it failed. Delete it.', { cause: new Error('git_not_found: no git. Install.') }),
      /^muster: git_not_found: .*Install git/,
      unavailable.code,
    ],
    [
      'a folder that may not be written',
      () => Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/s/x' }),
      /^muster: state_unusable: \/s\/x could not be used: .*--state/,
      unavailable.code,
    ],
    ['anything else', () => new TypeError('x is not a function'), /^muster: internal_error: x is not/, internal.code],
    ['what is no error', () => 'a text', /^muster: internal_error: a text/, internal.code],
  ]
  test.each(cases)('%s', async (_name, thrown, line, exitCode) => {
    const reported = report(await thrown(), folder)
    expect(reported.line).toMatch(line)
    expect(reported.line).not.toMatch(/\n|\bat .*:\d+:\d+/)
    expect(reported.exitCode).toBe(exitCode)
  })
})

test('an owner-only file has the stacks of a fault and all causes, and the line names the file', () => {
  const state = path.join(folder, 'state')
  const { line } = report(new Error('outer', { cause: new TypeError('inner') }), state)
  const file = path.join(state, 'last-error.txt')
  expect(line).toContain(file)
  expect(readFileSync(file, 'utf8')).toMatch(/Error: outer\n.*at [\s\S]*caused by TypeError: inner\n.*at /)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a wrong argument leaves no file, and an unwritable state makes no second failure', () => {
  const state = path.join(folder, 'unused')
  report(new CommandFailure('ref_unknown', 'No.', 'Other.', 'usage'), state)
  expect(existsSync(state)).toBe(false)
  const file = path.join(folder, 'a-file')
  writeFileSync(file, '')
  expect(report(new Error('broken'), path.join(file, 'below')).line).toMatch(/^muster: internal_error: broken/)
})
