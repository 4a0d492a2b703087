/** Of who gets a holder, and of how many there are. */
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
      breaks: 'One review more works than the ceiling allows.',
    },
    {
      name: 'schedule: a ticket of an earlier epoch',
      find: 'if ((latest.get(ticket.reviewId)?.epoch ?? 0) < ticket.epoch) latest.set',
      replace: 'latest.set',
      breaks: 'A slot is given to a ticket that is void, while the later one of the same review waits.',
    },
    {
      name: 'schedule: one more than a repository may have',
      find: 'ofRepository >= effectiveOfRepository',
      replace: 'ofRepository > effectiveOfRepository',
      breaks: 'A repository has one slot more than its limit.',
    },
    {
      name: 'schedule: one more than a pool may have',
      find: 'inPool >= effectiveOfPool',
      replace: 'inPool > effectiveOfPool',
      breaks: 'A pool has one slot more than its limit.',
    },
    {
      name: 'schedule: a person waits as long as a push',
      find: "run.askedBy === 'person' || ASKED",
      replace: 'ASKED',
      breaks: 'A review that a person asks for without a focus gets no earlier turn.',
      schedules: [],
    },
    {
      name: 'schedule: a probe before its time',
      find: 'closing.until <= now && !isProbing(fleet, closing)',
      replace: '!isProbing(fleet, closing)',
      breaks: 'A model that asked for patience is asked again at once.',
    },
    {
      name: 'schedule: any number of probes',
      find: 'closing.until <= now && !isProbing(fleet, closing)',
      replace: 'closing.until <= now',
      breaks: 'All who wait run into a throttled model together.',
    },
    {
      name: 'schedule: a late release takes a later epoch’s slot',
      find: '(fleet.slots[reviewId]?.epoch ?? Number.POSITIVE_INFINITY) <= epoch',
      replace: 'epoch > 0 && fleet.slots[reviewId] !== undefined',
      breaks: 'The slot of a review that works is given to another.',
    },
    {
      name: 'schedule: a replaced worker closes a pool',
      find: 'if (slot?.epoch !== holder.epoch) return fleet\n  const before',
      replace: 'if (!slot) return fleet\n  const before',
      breaks: 'A worker of an earlier epoch keeps a pool closed that is open.',
    },
    {
      name: 'schedule: a pool closed for shorter than it was',
      find: 'until: Math.max(before?.until ?? 0, closing.until)',
      replace: 'until: closing.until',
      breaks: 'A model is asked before the time that it named.',
    },
    {
      name: 'schedule: an earlier probe opens the pool',
      find: 'probe?.reviewId !== holder.reviewId || probe.epoch !== holder.epoch',
      replace: 'probe?.reviewId !== holder.reviewId',
      breaks: 'A probe that was replaced opens a pool whose present probe has not answered.',
      survives:
        'Who gets a holder in a closed pool becomes its probe at that epoch, so no probe is of another epoch than its slot. Asked all the same: a fence is whole.',
    },
    {
      name: 'schedule: the latest turn first',
      find: 'a.turn - b.turn ||',
      replace: 'b.turn - a.turn ||',
      breaks: 'Who has waited longest waits on.',
    },
    {
      name: 'schedule: who asked goes behind',
      find: '- (asked ? TURN_ASKED_MS : 0)',
      replace: '+ (asked ? TURN_ASKED_MS : 0)',
      breaks: 'A person who waits is served after everything else.',
    },
    {
      name: 'schedule: a repository’s limit not counted',
      find: 'effectiveOfRepository(limits).effective < effective ||\n',
      replace: '\n',
      tests: ['test/shared/fleet/schedule.test.ts', 'test/shared/ledger/fleet.test.ts'],
      breaks: 'Two who grant at once give a repository more than its limit.',
    },
  ],
)

const ceiling = mutantsOf(
  { file: 'shared/fleet/ceiling.ts', tests: ['test/shared/fleet/ceiling.test.ts'], schedules: [] },
  [
    {
      name: 'ceiling: switched off, and no effect',
      find: "effective: 1, reason: 'concurrency_disabled'",
      replace: "effective: configured, reason: 'concurrency_disabled'",
      breaks: 'Concurrency that was switched off goes on.',
    },
    {
      name: 'ceiling: a pool above its fleet',
      find: "    { at: fleet.effective, reason: fleet.reason ?? 'fleet_ceiling' },\n  ])",
      replace: '  ])',
      breaks: 'A pool is shown to have more than the whole fleet.',
    },
    {
      name: 'ceiling: never below one',
      find: 'Math.max(1, Math.min(configured, lowest.at))',
      replace: 'Math.min(configured, lowest.at)',
      breaks: 'A stored limit of 0 stops the fleet without a word.',
    },
    {
      name: 'ceiling: an outdated revision accepted',
      find: 'revision !== undefined && revision !== at',
      replace: 'revision !== undefined && revision > at',
      breaks: 'A change that was decided on older limits overwrites newer ones.',
    },
    {
      name: 'ceiling: what is not named taken back to its default',
      find: '...withoutNulls({ ...fleetLimits, ...patched }),',
      replace: '...withoutNulls(patched),',
      breaks: 'A change of one limit undoes the others.',
    },
  ],
)

export const schedule = [...slots, ...ceiling]
