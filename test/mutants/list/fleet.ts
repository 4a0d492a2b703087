/** Mutants of the fleet item, its queues and the hand-over of slots. */
import { mutantsOf } from '../mutant.ts'

const written = mutantsOf(
  {
    file: 'shared/ledger/fleet-write.ts',
    tests: ['test/shared/ledger/fleet.test.ts'],
    schedules: ['test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'fleet: a grant under changed rules',
      find: 'if (rules || granted.length > 0) conditions.push',
      replace: 'if (rules) conditions.push',
      breaks: 'The fleet grants a slot under a limit that was lowered since the read.',
    },
    {
      name: 'fleet: a grant beyond the last slot',
      find: "value('room', room)",
      replace: "value('room', room + 1)",
      breaks: 'Two processes that grant the last slot at once both succeed.',
    },
    {
      name: 'fleet: the last slot kept back',
      find: "value('room', room)",
      replace: "value('room', room - 1)",
      breaks: 'The fleet never grants its last slot.',
    },
    {
      name: 'fleet: a slot written over an existing slot',
      find: '? `attribute_not_exists(',
      replace: '? `attribute_exists(pk) OR attribute_not_exists(',
      breaks: 'Two processes that grant the same review both believe in their own grant.',
    },
    {
      name: 'fleet: a late release frees a later epoch’s slot',
      find: 'remove.push(path)\n',
      replace: `remove.push(path)
    conditions.push(\`(attribute_exists(pk) OR \${path}.\${name('epoch')} = \${value(\`r\${index}\`, epoch)})\`)
    continue
`,
      breaks: 'A release frees a slot that was granted anew since the read.',
    },
    {
      name: 'fleet: concurrent grants not counted',
      find: 'if (isCounted(next, slots)) conditions.push',
      replace: 'if (slots.length === 0) conditions.push',
      breaks: 'Two processes that grant at once give a pool more slots than its limit.',
    },
    {
      name: 'fleet: every write moves the due time on',
      find: `= if_not_exists(\${name(member)}, \${value(member, content)})`,
      replace: `= \${value(member, content)}`,
      breaks: 'The sweeper never looks at a busy fleet, which keeps its void slots.',
    },
    {
      name: 'fleet: a foreign grant taken for its own',
      find: 'granted.every(([reviewId]) => slots[reviewId]?.by === writer)',
      replace: 'granted.every(([reviewId]) => slots[reviewId] !== undefined)',
      breaks: 'Two processes finish one grant, and a refused slot counts as granted.',
    },
  ],
)

const queues = mutantsOf(
  {
    file: 'shared/ledger/fleet.ts',
    tests: ['test/shared/ledger/fleet.test.ts'],
    schedules: ['test/small-model/fleet.test.ts', 'test/simulation/schedules/fleet.test.ts'],
  },
  [
    {
      name: 'fleet: the marker before its ticket',
      find: `  await ledger.client.send(
    new PutCommand({ TableName: ledger.table, Item: { ...keyOfTicket(ticket), ...ticket, expiresAt } }),
  )
  const { repository, installation, pool } = ticket
  const marker = { ...keyOf.queue(repository, pool), repository, installation, pool, nonce, expiresAt }
  await ledger.client.send(new PutCommand({ TableName: ledger.table, Item: marker }))
`,
      replace: `  const { repository, installation, pool } = ticket
  const marker = { ...keyOf.queue(repository, pool), repository, installation, pool, nonce, expiresAt }
  await ledger.client.send(new PutCommand({ TableName: ledger.table, Item: marker }))
  await ledger.client.send(
    new PutCommand({ TableName: ledger.table, Item: { ...keyOfTicket(ticket), ...ticket, expiresAt } }),
  )
`,
      breaks: 'A process that sees the queue empty deletes the marker of a ticket that is about to come.',
    },
    {
      name: 'fleet: a renewed marker deleted',
      find: "ConditionExpression: '#nonce = :nonce',",
      replace: "ConditionExpression: 'attribute_exists(#nonce) OR #nonce = :nonce',",
      breaks: 'A ticket that came since the queue was seen empty waits in a queue that no hand-over reads.',
    },
    {
      name: 'fleet: at rest while it holds a slot',
      find: "'size(#slots) = :none AND size(#closed) = :none'",
      replace: "'size(#slots) = :none OR size(#closed) = :none'",
      breaks: 'The sweeper never looks at a fleet with a void slot again.',
    },
    {
      name: 'fleet: a stale refusal of limits',
      find: "return (limits.revision ?? 0) === (before.limits.revision ?? 0) ? change : 'again'",
      replace: 'return limits ? change : change',
      breaks: 'A change of limits is refused because of limits that another change has replaced.',
    },
  ],
)

const handed = mutantsOf(
  {
    file: 'shared/coordinator/grant-slots.ts',
    tests: ['test/shared/coordinator/grant-slots.test.ts', 'test/shared/coordinator/race.test.ts'],
    schedules: ['test/simulation/schedules/fleet.test.ts', 'test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'grant slots: the queues read only once',
      find: 'const mayGrantMore = (next !== before && freeSlots(next) > 0) ||',
      replace: 'const mayGrantMore =',
      breaks: 'A ticket that comes during the release of a slot waits although the slot is free.',
    },
    {
      name: 'grant slots: an unfinished grant left alone',
      find: ' || age < 0 || age >= GRANT_FRESH_MS',
      replace: '',
      breaks: 'A review keeps a slot without ever being told of the grant.',
    },
    {
      name: 'grant slots: the ticket deleted before the grant is told',
      find: `  const outcome = await tellGrant(coordinator, ticket)
  FAILPOINT: await failpoint('grant.told')
  await dropTicket(coordinator.ledger, ticket)
`,
      replace: `  await dropTicket(coordinator.ledger, ticket)
  FAILPOINT: await failpoint('grant.told')
  const outcome = await tellGrant(coordinator, ticket)
`,
      breaks: 'A process that dies in between leaves a slot whose review no reader of tickets finds.',
    },
    {
      name: 'grant slots: a direct grant overtakes waiting tickets',
      find: 'if (queues.length > 0 || isHalted(halts, ticket)) return false',
      replace: 'if (isHalted(halts, ticket)) return false',
      breaks: 'A new review overtakes a waiting review.',
    },
    {
      name: 'grant slots: a direct grant under a halt',
      find: 'if (queues.length > 0 || isHalted(halts, ticket)) return false',
      replace: 'if (queues.length > 0) return false',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a halted repository.',
    },
    {
      name: 'grant slots: a new ticket granted under a halt',
      find: 'schedule(freed, queued, now())',
      replace: 'schedule(freed, waiting, now())',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a halted repository, by the process that has just written the ticket.',
    },
    {
      name: 'grant slots: a void grant keeps its slot',
      find: "if ((await tellGrant(coordinator, ticket)) === 'void') await grantSlots(coordinator, [ticket])",
      replace: 'await tellGrant(coordinator, ticket)',
      breaks: 'A slot stays with an ended review until the sweeper sees the slot.',
    },
    {
      name: 'grant slots: void slots kept',
      find: '=> withoutSlots(fleet, voids)',
      replace: '=> (voids.length < 0 ? withoutSlots(fleet, voids) : fleet)',
      breaks: 'Slots that a hand-over finds void stay taken.',
    },
    {
      name: 'grant slots: no look at the fleet after a new ticket',
      find: "FAILPOINT: await failpoint('ticket.queued')\n  await grantSlots(coordinator, [], [ticket])",
      replace: "FAILPOINT: await failpoint('ticket.queued')",
      breaks: 'A review waits although a slot became free between the look and the ticket.',
    },
    {
      name: 'grant slots: a dead token kept',
      find: "if (answer !== 'dead') return",
      replace: "if (answer !== 'dead' || review.token) return",
      breaks: 'Each hand-over answers the same dead token again.',
    },
    {
      name: 'grant slots: a later epoch’s ticket waits behind its own void slot',
      find: '.filter((holder) => withoutSlots(changed, [holder]) !== changed)',
      replace: '.filter((holder) => holder.epoch < 0)',
      breaks: 'A review that was taken back never gets another slot.',
    },
  ],
)

const waiting = mutantsOf(
  {
    file: 'shared/coordinator/queues.ts',
    tests: ['test/shared/coordinator/grant-slots.test.ts', 'test/shared/coordinator/hold.test.ts'],
    schedules: ['test/simulation/schedules/fleet.test.ts'],
  },
  [
    {
      name: 'waiting: halted queues included',
      find: 'isAllowed(fleet, queue, now()) && !isHalted(halts, queue)',
      replace: 'isAllowed(fleet, queue, now()) && halts !== undefined',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a halted repository.',
    },
    {
      name: 'waiting: only as many tickets as free slots',
      find: 'Math.max(TICKETS_READ_MIN, freeSlots(fleet) + held.length)',
      replace: 'Math.max(1, freeSlots(fleet))',
      breaks: 'Tickets of reviews with slots hide the waiting tickets behind them.',
    },
  ],
)

export const fleet = [...written, ...queues, ...handed, ...waiting]
