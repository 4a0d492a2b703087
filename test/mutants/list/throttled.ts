/** Of a throttled model's pool, and of the one review that tries it. */
import { mutantsOf } from '../mutant.ts'

const tests = ['test/functions/review/probe-admitted.test.ts', 'test/functions/review/throttled.test.ts']
const schedules = ['test/simulation/throttling.test.ts']

const signals = mutantsOf({ file: 'functions/review/probe-admitted.ts', tests, schedules }, [
  {
    name: 'let in: only once it is answered',
    find: 'timer ??= setTimeout(begin, PROBE_ADMITTED_MS).unref()',
    replace: 'timer ??= undefined',
    breaks: 'The fleet stands idle while one review is read.',
  },
  {
    name: 'let in: as soon as it is asked',
    find: 'setTimeout(begin, PROBE_ADMITTED_MS)',
    replace: 'setTimeout(begin, 0)',
    breaks: 'A pool is opened before its model can have refused, and each place meets a throttled model.',
  },
  {
    name: 'let in: not waited for',
    find: 'return (await admission) ?? false',
    replace: 'return admission !== undefined',
    breaks: 'A function that has answered stands still amid granting places.',
  },
])

const effects = mutantsOf({ file: 'functions/review/end-work.ts', tests, schedules }, [
  {
    name: 'let in: by a worker whose lease is lost',
    find: '    assertHeld()\n    const isPoolOpen = await openPool',
    replace: '    const isPoolOpen = await openPool',
    breaks: 'A worker that was replaced reads and writes on.',
  },
  {
    name: 'let in: its pool opened twice',
    find: 'isAnswered && !isPoolOpen && (await',
    replace: 'isAnswered && (await',
    breaks: 'Nothing but a read of the fleet more for each review of a model.',
  },
  {
    name: 'let in: then throttled, and not shown as parked again',
    find: 'const current = isPoolOpen ? unmarked : run',
    replace: 'const current = run',
    breaks: 'A run that waits for its model again says that it goes on.',
  },
])

const closed = mutantsOf(
  { file: 'shared/fleet/throttling.ts', tests: ['test/shared/fleet/throttling.test.ts'], schedules },
  [
    {
      name: 'parking: a model asked as often as ever',
      find: '(now - since) * MODEL_CLOSED_PART',
      replace: '0',
      breaks: 'A review that is throttled for two hours fills the history of its execution.',
    },
  ],
)

export const throttled = [...signals, ...effects, ...closed]
