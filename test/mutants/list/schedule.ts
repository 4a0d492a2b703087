/** Mutants of the schedule and the limits of slots. */
import { mutantsOf } from '../mutant.ts'

const slots = mutantsOf(
  {
    file: 'shared/fleet/schedule.ts',
    tests: ['test/shared/fleet/schedule.test.ts'],
    schedules: ['test/simulation/schedules/fleet.test.ts'],
  },
  [
    {
      name: 'schedule: one slot more than effective',
      find: 'if (freeSlots(after) <= 0) break',
      replace: 'if (freeSlots(after) < 0) break',
      breaks: 'The fleet works on one review more than the ceiling allows.',
    },
    {
      name: 'schedule: an earlier epoch’s ticket granted',
      find: 'if ((latest.get(ticket.reviewId)?.epoch ?? 0) < ticket.epoch) latest.set',
      replace: 'latest.set',
      breaks: 'The fleet grants a slot to a void ticket, while the later ticket of the same review waits.',
    },
    {
      name: 'schedule: one slot more than the repository’s limit',
      find: 'ofRepository >= effectiveOfRepository',
      replace: 'ofRepository > effectiveOfRepository',
      breaks: 'A repository has one slot more than its limit.',
    },
    {
      name: 'schedule: one slot more than the pool’s limit',
      find: 'inPool >= effectiveOfPool',
      replace: 'inPool > effectiveOfPool',
      breaks: 'A pool has one slot more than its limit.',
    },
    {
      name: 'schedule: a requested review gets the turn of a push',
      find: "run.askedBy === 'person' || run.cause",
      replace: 'run.cause',
      breaks: 'A review that a person requests without a focus gets no earlier turn.',
      schedules: [],
    },
    {
      name: 'schedule: a probe before its time',
      find: 'closing.until <= now && !isProbing(fleet, closing)',
      replace: '!isProbing(fleet, closing)',
      breaks: 'A worker calls a throttled model again at once.',
    },
    {
      name: 'schedule: any number of probes',
      find: 'closing.until <= now && !isProbing(fleet, closing)',
      replace: 'closing.until <= now',
      breaks: 'All waiting reviews call a throttled model together.',
    },
    {
      name: 'schedule: a late release frees a later epoch’s slot',
      find: '(fleet.slots[reviewId]?.epoch ?? Number.POSITIVE_INFINITY) <= epoch',
      replace: 'epoch > 0 && fleet.slots[reviewId] !== undefined',
      breaks: 'The slot of a review at work is granted to another review.',
    },
    {
      name: 'schedule: a replaced worker closes a pool',
      find: 'if (slot?.epoch !== holder.epoch) return fleet\n  const before',
      replace: 'if (!slot) return fleet\n  const before',
      breaks: 'A worker of an earlier epoch closes an open pool.',
    },
    {
      name: 'schedule: a closing shortens an earlier closing',
      find: 'until: Math.max(before?.until ?? 0, closing.until)',
      replace: 'until: closing.until',
      breaks: 'A worker calls a model before the time that the model named.',
    },
    {
      name: 'schedule: an earlier probe opens the pool',
      find: 'probe?.reviewId !== holder.reviewId || probe.epoch !== holder.epoch',
      replace: 'probe?.reviewId !== holder.reviewId',
      breaks: 'A replaced probe opens a pool whose present probe has not answered.',
      survives:
        'A review with a slot in a closed pool becomes the pool’s probe at that epoch, so a probe’s epoch always equals its slot’s epoch. The check stays, as a fence compares owner and epoch.',
    },
    {
      name: 'schedule: the latest turn first',
      find: 'a.turn - b.turn ||',
      replace: 'b.turn - a.turn ||',
      breaks: 'The review that has waited longest waits on.',
    },
    {
      name: 'schedule: requested reviews last',
      find: '- (asked ? TURN_ASKED_MS : 0)',
      replace: '+ (asked ? TURN_ASKED_MS : 0)',
      breaks: 'A person’s request is served after everything else.',
    },
    {
      name: 'schedule: the repository’s limit not counted',
      find: 'effectiveOfRepository(limits).effective < effective ||\n',
      replace: '\n',
      tests: ['test/shared/fleet/schedule.test.ts', 'test/shared/ledger/fleet.test.ts'],
      breaks: 'Two processes that grant at once give a repository more slots than its limit.',
    },
  ],
)

const ceiling = mutantsOf(
  { file: 'shared/fleet/ceiling.ts', tests: ['test/shared/fleet/ceiling.test.ts'], schedules: [] },
  [
    {
      name: 'ceiling: switching off has no effect',
      find: "effective: 1, reason: 'concurrency_disabled'",
      replace: "effective: configured, reason: 'concurrency_disabled'",
      breaks: 'Concurrency that was switched off goes on.',
    },
    {
      name: 'ceiling: a pool above its fleet',
      find: "    { at: fleet.effective, reason: fleet.reason ?? 'fleet_ceiling' },\n  ])",
      replace: '  ])',
      breaks: 'The API shows a pool with a higher limit than the whole fleet.',
    },
    {
      name: 'ceiling: never below one',
      find: 'Math.max(1, Math.min(configured, lowest.at))',
      replace: 'Math.min(configured, lowest.at)',
      breaks: 'A stored limit of 0 stops the fleet without a reason.',
    },
    {
      name: 'ceiling: an outdated revision accepted',
      find: 'revision !== undefined && revision !== at',
      replace: 'revision !== undefined && revision > at',
      breaks: 'A change that was decided on older limits overwrites newer limits.',
    },
    {
      name: 'ceiling: unnamed limits reset to their defaults',
      find: '...withoutNulls({ ...fleetLimits, ...patched }),',
      replace: '...withoutNulls(patched),',
      breaks: 'A change of one limit undoes all other limits.',
    },
  ],
)

export const schedule = [...slots, ...ceiling]
