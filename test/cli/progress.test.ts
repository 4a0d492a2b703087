/** Progress: a line for each change in a pipe, lines written over on a terminal, nothing in quiet mode. */
import { expect, test, vi } from 'vitest'
import { createReporter, type Reporter } from '../../cli/progress.ts'
import type { Progress } from '../../cli/request.ts'
import type { LensProgress } from '../../cli/run-view.ts'
import { ESCAPE, openScreen } from './screen.ts'

const opened: Progress = { kind: 'pull_request', name: 'local/widgets#1', url: 'http://page', change: 'opened' }

function lens(
  name: LensProgress['lens'],
  state: LensProgress['state'],
  more: Partial<LensProgress> = {},
): LensProgress {
  return { lens: name, state, parts: 1, partsDone: state === 'read' ? 1 : 0, findings: 0, ...more }
}

function run(state: 'accepted' | 'running' | 'concluded' | 'ended', ...lenses: LensProgress[]): Progress {
  return { kind: 'run', attempt: 1, state, lenses }
}

function review(reporter: Reporter): void {
  reporter.onProgress(opened)
  reporter.onProgress(run('accepted'))
  reporter.onProgress(run('running'))
  reporter.onProgress(
    run('running', lens('secrets', 'waiting'), lens('correctness', 'reading', { parts: 3, partsDone: 1 })),
  )
  reporter.onProgress(
    run('running', lens('secrets', 'waiting'), lens('correctness', 'reading', { parts: 3, partsDone: 1 })),
  )
  const failed = lens('correctness', 'failed', { reason: 'answered 401:\u001b[2J bad\nkey' })
  reporter.onProgress(run('concluded', lens('secrets', 'read', { findings: 2 }), failed))
  reporter.onProgress(run('ended', lens('secrets', 'read', { findings: 2 }), failed))
  reporter.end()
}

test('in a pipe every change is one line, printed once, without colour or movement', () => {
  const screen = openScreen(undefined)
  review(createReporter(screen.terminal, false))
  expect(screen.written().split('\n')).toEqual([
    'Pull request local/widgets#1 opened: http://page',
    '  accepted',
    '  planning',
    '  reviewing',
    '  secrets        waiting for a slot',
    '  correctness    reading (1 of 3 parts)',
    '  concluded; posting',
    '  secrets        2 findings',
    '  correctness    failed: answered 401:␛[2J bad key',
    '',
  ])
})

test('on a terminal each lens has one line, written over; the last state of each line stays', () => {
  const screen = openScreen(80)
  const reporter = createReporter(screen.terminal, false)
  reporter.onProgress(opened)
  reporter.onProgress(run('running', lens('secrets', 'reading'), lens('description', 'waiting')))
  expect(screen.seen()).toEqual([
    'Pull request local/widgets#1 opened: http://page',
    '⠋ secrets        reading',
    '· description    waiting for a slot',
    '⠋ reviewing',
  ])
  reporter.note('A note')
  reporter.onProgress(run('ended', lens('secrets', 'read', { findings: 1 }), lens('description', 'read')))
  reporter.note('After it')
  expect(screen.seen()).toEqual([
    'Pull request local/widgets#1 opened: http://page',
    'A note',
    '✔ secrets        1 finding',
    '✔ description    no findings',
    'After it',
  ])
})

test('a line wider than the terminal is cut, because a wrapped line could not be written over', () => {
  const screen = openScreen(30)
  const reporter = createReporter(screen.terminal, false)
  reporter.onProgress(run('running', lens('correctness', 'failed', { reason: 'x'.repeat(100) })))
  expect(screen.seen().every((line) => line.length < 30)).toBe(true)
  reporter.end()
})

test('colour needs a terminal, and is off with NO_COLOR; a dumb terminal gets no movement either', () => {
  const written = (columns: number | undefined, environment: NodeJS.ProcessEnv) => {
    const screen = openScreen(columns, environment)
    review(createReporter(screen.terminal, false))
    return screen.written()
  }
  const colour = new RegExp(`${ESCAPE}\\[\\d+m`)
  expect(written(80, {})).toMatch(colour)
  expect(written(80, { NO_COLOR: '1' })).not.toMatch(colour)
  expect(written(undefined, { FORCE_COLOR: '1' })).not.toMatch(colour)
  expect(written(80, { TERM: 'dumb' })).not.toContain(ESCAPE)
})

test('a long step is reported while it goes on, on a terminal and in a pipe; a short step is not', async () => {
  vi.useFakeTimers()
  try {
    for (const columns of [undefined, 80]) {
      const screen = openScreen(columns)
      const reporter = createReporter(screen.terminal, false)
      await reporter.step('A short step', async () => undefined)
      expect(screen.seen()).toEqual([])
      const long = Promise.withResolvers<string>()
      const step = reporter.step('A long step', () => long.promise)
      await vi.advanceTimersByTimeAsync(1_500)
      expect(screen.seen().join('\n')).toContain('A long step')
      long.resolve('its result')
      expect(await step).toBe('its result')
      expect(screen.seen().at(-1)).toMatch(/A long step:? 1\.5 s$/)
    }
  } finally {
    vi.useRealTimers()
  }
})

test('a quiet reporter says nothing, and does the work', async () => {
  const screen = openScreen(80)
  const reporter = createReporter(screen.terminal, true)
  review(reporter)
  expect(await reporter.step('A step', async () => 7)).toBe(7)
  expect(screen.written()).toBe('')
})
