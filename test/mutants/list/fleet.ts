/** Of the fleet item, its queues, and how places are handed on. */
import { mutantsOf } from '../mutant.ts'

const written = mutantsOf(
  {
    file: 'shared/ledger/fleet-write.ts',
    tests: ['test/shared/ledger/fleet.test.ts'],
    schedules: ['test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'fleet: granted under rules that have changed',
      find: 'if (rules || granted.length > 0) conditions.push',
      replace: 'if (rules) conditions.push',
      breaks: 'A slot is given under a limit that was lowered since it was read.',
    },
    {
      name: 'fleet: granted though it is full',
      find: "value('room', room)",
      replace: "value('room', room + 1)",
      breaks: 'Two who grant the last slot at once both have it.',
    },
    {
      name: 'fleet: a slot kept back',
      find: "value('room', room)",
      replace: "value('room', room - 1)",
      breaks: 'The last slot is never given.',
    },
    {
      name: 'fleet: a slot written over another',
      find: '? `attribute_not_exists(',
      replace: '? `attribute_exists(pk) OR attribute_not_exists(',
      breaks: 'Of two who grant the same review both believe that they did.',
    },
    {
      name: 'fleet: a late release of a later epoch',
      find: 'remove.push(path)\n',
      replace: `remove.push(path)
    conditions.push(\`(attribute_exists(pk) OR \${path}.\${name('epoch')} = \${value(\`r\${index}\`, epoch)})\`)
    continue
`,
      breaks: 'A slot is released that was granted anew since it was read.',
    },
    {
      name: 'fleet: not counted who granted meanwhile',
      find: 'if (isCounted(next, slots)) conditions.push',
      replace: 'if (slots.length === 0) conditions.push',
      breaks: 'Two who grant at once give a pool more than its limit.',
    },
    {
      name: 'fleet: put off by each write',
      find: `= if_not_exists(\${name(member)}, \${value(member, content)})`,
      replace: `= \${value(member, content)}`,
      breaks: 'A busy fleet is never looked at, and keeps its void slots.',
    },
    {
      name: 'fleet: another’s grant taken for its own',
      find: 'granted.every(([reviewId]) => slots[reviewId]?.by === writer)',
      replace: 'granted.every(([reviewId]) => slots[reviewId] !== undefined)',
      breaks: 'Two finish one grant, and a slot that was refused is believed to be given.',
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
      breaks: 'Who sees the queue empty deletes the marker of a ticket that is about to come.',
    },
    {
      name: 'fleet: a renewed marker deleted',
      find: "ConditionExpression: '#nonce = :nonce',",
      replace: "ConditionExpression: 'attribute_exists(#nonce) OR #nonce = :nonce',",
      breaks: 'A ticket that came since the queue was seen empty waits in a queue that nobody looks into.',
    },
    {
      name: 'fleet: at rest while it holds a slot',
      find: "'size(#slots) = :none AND size(#closed) = :none'",
      replace: "'size(#slots) = :none OR size(#closed) = :none'",
      breaks: 'A fleet with a void slot is looked at no more.',
    },
    {
      name: 'fleet: a stale refusal of limits',
      find: "return (limits.revision ?? 0) === (before.limits.revision ?? 0) ? change : 'again'",
      replace: 'return limits ? change : change',
      breaks: 'A change is refused for what was true before another change.',
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
      name: 'grant slots: the queues read once only',
      find: 'const mayGrantMore = (next !== before && freeSlots(next) > 0) ||',
      replace: 'const mayGrantMore =',
      breaks: 'A ticket that comes while a slot is released waits although the slot is free.',
    },
    {
      name: 'grant slots: a grant that nobody finished left alone',
      find: ' || age < 0 || age >= GRANT_FRESH_MS',
      replace: '',
      breaks: 'A review keeps a slot that it was never told of.',
    },
    {
      name: 'grant slots: the ticket goes before the grant is told',
      find: `  const outcome = await tellGrant(coordinator, ticket)
  FAILPOINT: await failpoint('grant.told')
  await dropTicket(coordinator.ledger, ticket)
`,
      replace: `  await dropTicket(coordinator.ledger, ticket)
  FAILPOINT: await failpoint('grant.told')
  const outcome = await tellGrant(coordinator, ticket)
`,
      breaks: 'Who dies in between leaves a slot whose review is found by nobody who meets tickets.',
    },
    {
      name: 'grant slots: a slot taken at once before who waits',
      find: 'if (queues.length > 0 || isHalted(halts, ticket)) return false',
      replace: 'if (isHalted(halts, ticket)) return false',
      breaks: 'A newcomer overtakes who has waited.',
    },
    {
      name: 'grant slots: a slot taken at once under a halt',
      find: 'if (queues.length > 0 || isHalted(halts, ticket)) return false',
      replace: 'if (queues.length > 0) return false',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a repository that is halted.',
    },
    {
      name: 'grant slots: a ticket of its own making granted under a halt',
      find: 'schedule(freed, queued, now())',
      replace: 'schedule(freed, waiting, now())',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a repository that is halted, by who has just put its ticket.',
    },
    {
      name: 'grant slots: a void grant keeps its slot',
      find: "if ((await tellGrant(coordinator, ticket)) === 'void') await grantSlots(coordinator, [ticket])",
      replace: 'await tellGrant(coordinator, ticket)',
      breaks: 'A slot is held for a review that has ended, until the sweeper sees it.',
    },
    {
      name: 'grant slots: void places met are kept',
      find: '=> withoutSlots(fleet, voids)',
      replace: '=> (voids.length < 0 ? withoutSlots(fleet, voids) : fleet)',
      breaks: 'Places that turned out to be given to nobody stay taken.',
    },
    {
      name: 'grant slots: a ticket put and not looked at',
      find: "FAILPOINT: await failpoint('ticket.queued')\n  await grantSlots(coordinator, [], [ticket])",
      replace: "FAILPOINT: await failpoint('ticket.queued')",
      breaks: 'A review waits although a slot became free between the look and its ticket.',
    },
    {
      name: 'grant slots: a dead token kept',
      find: "if (answer !== 'dead') return",
      replace: "if (answer !== 'dead' || review.token) return",
      breaks: 'A token that nobody can be told by is answered again and again.',
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
      name: 'waiting: halted queues among them',
      find: 'isAllowed(fleet, queue, now()) && !isHalted(halts, queue)',
      replace: 'isAllowed(fleet, queue, now()) && halts !== undefined',
      tests: ['test/functions/api/halts.test.ts'],
      breaks: 'Work begins in a repository that is halted.',
    },
    {
      name: 'waiting: only as many tickets as places',
      find: 'Math.max(TICKETS_READ_MIN, freeSlots(fleet) + held.length)',
      replace: 'Math.max(1, freeSlots(fleet))',
      breaks: 'Tickets of reviews that have their slots hide who waits behind them.',
    },
  ],
)

export const fleet = [...written, ...queues, ...handed, ...waiting]
