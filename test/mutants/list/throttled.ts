/** Mutants of closed pools and their probes. */
import { mutantsOf } from '../mutant.ts'

const tests = ['test/functions/review/probe-admitted.test.ts', 'test/functions/review/throttled.test.ts']
const schedules = ['test/simulation/throttling.test.ts']

const signals = mutantsOf({ file: 'functions/review/probe-admitted.ts', tests, schedules }, [
  {
    name: 'probe: the pool opens only after the reading',
    find: 'timer ??= setTimeout(begin, PROBE_ADMITTED_MS).unref()',
    replace: 'timer ??= undefined',
    breaks: 'The fleet idles while one review is read.',
  },
  {
    name: 'probe: the pool opens at the call',
    find: 'setTimeout(begin, PROBE_ADMITTED_MS)',
    replace: 'setTimeout(begin, 0)',
    breaks: 'A pool opens before its model can have refused, and each slot meets a throttled model.',
  },
  {
    name: 'probe: the opening not awaited',
    find: 'return (await admission) ?? false',
    replace: 'return admission !== undefined',
    breaks: 'A function that has answered is frozen in the middle of granting slots.',
  },
])

const effects = mutantsOf({ file: 'functions/review/end-work.ts', tests, schedules }, [
  {
    name: 'probe: a worker without its lease opens the pool',
    find: '    assertHeld()\n    const isPoolOpen = await openPool',
    replace: '    const isPoolOpen = await openPool',
    breaks: 'A replaced worker reads and writes on.',
  },
  {
    name: 'probe: the pool opened twice',
    find: 'isAnswered && !isPoolOpen && (await',
    replace: 'isAnswered && (await',
    breaks: 'Every review of a model reads the fleet once more; nothing else changes.',
  },
  {
    name: 'probe: a second throttle not shown as parked',
    find: 'const current = isPoolOpen ? unmarked : run',
    replace: 'const current = run',
    breaks: 'A run that waits for its model again is shown as going on.',
  },
])

const closed = mutantsOf(
  { file: 'shared/fleet/throttling.ts', tests: ['test/shared/fleet/throttling.test.ts'], schedules },
  [
    {
      name: 'parking: the interval between tries doesn’t grow',
      find: '(now - since) * MODEL_CLOSED_PART',
      replace: '0',
      breaks: 'A review that is throttled for two hours fills the history of its execution.',
    },
  ],
)

export const throttled = [...signals, ...effects, ...closed]
