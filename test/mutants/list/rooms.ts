/** Of the rooms: plan, admit, conclude, post, sweep. */
import { mutantsOf } from '../mutant.ts'

const claims = mutantsOf(
  {
    file: 'functions/plan/claim-pull-request.ts',
    tests: ['test/functions/plan/claim-pull-request.test.ts'],
    schedules: ['test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'control: GitHub asked once too often',
      find: `    const thread = await readThread(ledger, run.repository.id, run.number)
    const current`,
      replace: `    await github.pullRequest(run.repository, run.number)
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current`,
      breaks: 'Nothing that is promised.',
      survives: 'It is here to show that not everything is called killed.',
    },
    {
      name: 'plan: GitHub read before the thread',
      find: `    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')

    const pullRequest = await github.pullRequest(run.repository, run.number)
`,
      replace: `    const pullRequest = await github.pullRequest(run.repository, run.number)
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')
`,
      breaks: 'Of two pushes in one second the older head can claim after the newer one did.',
    },
    {
      name: 'plan: claimed for a head that GitHub does not show',
      find: "if (seen.kind === 'superseded') return",
      replace: "if (seen.kind === 'superseded' && now < 0) return",
      breaks: 'An older head is reviewed after a newer one was pushed.',
    },
  ],
)

const admitted = mutantsOf(
  { file: 'functions/admit/admit.ts', tests: ['test/functions/admit/admit.test.ts'], schedules: [] },
  [
    {
      name: 'admit: for an attempt that is over',
      find: "if (!run || run.attempt !== attempt) return 'ended'",
      replace: "if (!run) return 'ended'",
      breaks: 'An execution that was replaced takes places from its successor.',
    },
    {
      name: 'admit: a leased review queued beside its worker',
      find: "review.state === 'leased' ? 'wait' : 'enqueue'",
      replace: "review.state === 'leased' ? 'enqueue' : 'enqueue'",
      breaks: 'A review that is being read gets another ticket.',
    },
  ],
)

const concluded = mutantsOf(
  {
    file: 'functions/conclude/handler.ts',
    tests: ['test/functions/conclude/room.test.ts'],
    schedules: [
      'test/simulation/schedules/posting.test.ts',
      'test/simulation/schedules/ending.test.ts',
      'test/simulation/schedules/claims.test.ts',
    ],
  },
  [
    {
      name: 'conclude: not asked who speaks now',
      find: "if (thread?.liveRun?.runId !== runId || thread.liveRun.attempt !== attempt) return 'superseded'",
      replace: "if (!thread) return 'superseded'",
      breaks:
        'Nothing where the claim of a newer run has made this one end; a verdict for an older head where it has not.',
    },
    {
      name: 'conclude: a run that is ending concludes',
      find: "|| run.state === 'ending') return 'superseded'",
      replace: ") return 'superseded'",
      breaks: 'A cancelled run speaks.',
    },
    {
      name: 'conclude: called again, it keeps the first token',
      find: "return (await updateRun(ledger, run, { token }, { now: Date.now() })) ? 'owed' : 'again'",
      replace: "return 'owed'",
      breaks: 'The token of a retry is never answered.',
    },
    {
      name: 'conclude: does not look whether all is shown',
      find: '  await finishIfShown(coordinator, runId)\n',
      replace: '',
      breaks: 'Post showed everything before this token was written: it is answered only by the sweeper.',
    },
    {
      name: 'conclude: a review that was not read counts as a result',
      file: 'functions/conclude/conclude.ts',
      find: 'const notAllRead = results.length < parts.length',
      replace: 'const notAllRead = results.length === 0',
      tests: ['test/functions/conclude/conclude.test.ts'],
      breaks: 'A lens that read one of its parts is called read.',
    },
  ],
)

const judged = mutantsOf(
  {
    file: 'functions/post/post.ts',
    tests: ['test/functions/post/post.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'post: an earlier attempt’s message said',
      find: 'live?.runId !== run.runId || live.attempt !== message.attempt || run.state',
      replace: 'live?.runId !== run.runId || run.state',
      breaks: 'What an earlier attempt owed is said beside what the later one says.',
    },
    {
      name: 'post: said under a halt',
      find: "if (facts.halted) return 'halted'\n",
      replace: '\n',
      breaks: 'A halted repository is written to.',
    },
    {
      name: 'post: said though the head has moved',
      find: "if (head !== 'live') return 'head_moved'\n",
      replace: '\n',
      breaks: 'A review of an older head follows one of a newer head.',
    },
    {
      name: 'post: a view that is behind ends the run',
      find: "if (head === 'not_yet') return 'not_visible'\n",
      replace: '\n',
      breaks: 'Nobody reviews the newest head once GitHub has shown the one before it for a moment.',
    },
    {
      name: 'post: said while it is withdrawn',
      find: "if (message.state === 'withdrawing') return 'withdrawing'\n",
      replace: '\n',
      breaks: 'A run that is ending speaks.',
    },
    {
      name: 'post: no second look after a takeover',
      find: 'if (item.owner !== undefined || unanswered) return now + leaseMs',
      replace: 'if (unanswered) return now + leaseMs',
      breaks: 'What a poster that was replaced still does is not undone.',
    },
    {
      name: 'post: no second look after a call without an answer',
      find: 'if (item.owner !== undefined || unanswered) return now + leaseMs',
      replace: 'if (item.owner !== undefined) return now + leaseMs',
      breaks: 'What GitHub does late stands beside what was said then.',
    },
    {
      name: 'post: a throttle counts as an error',
      find: "because.code !== 'github_throttled' && because.code !== 'busy'",
      replace: "because.code !== 'busy'",
      breaks: 'A review fails because GitHub asked for patience five times.',
    },
    {
      name: 'post: a resource tried before its time',
      find: '(shownGeneration < generation && tryAt <= now)',
      replace: '(shownGeneration < generation)',
      breaks: 'A GitHub that fails is asked as often as there are nudges.',
    },
    {
      name: 'post: what an overtaken run wanted is shown',
      find: "return overtaken && !leftBehind ? 'void' : 'show'",
      replace: "return 'show'",
      breaks: 'A verdict of a cancelled run is published.',
    },
  ],
)

const said = mutantsOf(
  {
    file: 'functions/post/messages.ts',
    tests: ['test/functions/post/posting.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'post: marked as said before its round counts',
      find: `  if (message.round > 0) await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)
  POINT: await reached('post.round_counted')
  await settleMessage(ledger, message, owner, { state: 'said', githubId: seen.reviewId }, lookAt)`,
      replace: `  await settleMessage(ledger, message, owner, { state: 'said', githubId: seen.reviewId }, lookAt)
  POINT: await reached('post.round_counted')
  if (message.round > 0) await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)`,
      breaks: 'Who dies in between leaves a review that uses no round.',
    },
    {
      name: 'post: said without the lease',
      find: 'if (!(await leaseMessage(ledger, message, owner, now()))) continue',
      replace: 'await leaseMessage(ledger, message, owner, now())',
      breaks: 'Two posters say one review side by side.',
      survives:
        'The lease is asked again before each step that others would see, and who doesn’t hold it records nothing. Taking it first saves such a poster its reads.',
    },
    {
      name: 'post: not asked again before each step',
      find: "return stopped.reason === undefined ? 'go' : 'stop'",
      replace: "return 'go'",
      breaks: 'A review goes on to be submitted after its run was ended.',
    },
    {
      name: 'post: the lease not asked before each step',
      find: "if (!run || !(await stillLeased(ledger, message, owner))) return { reason: 'not_live' }",
      replace: "if (!run) return { reason: 'not_live' }",
      breaks: 'A poster that was replaced goes on beside the one that replaced it.',
    },
  ],
)

const messages = mutantsOf(
  {
    file: 'shared/ledger/message.ts',
    tests: ['test/shared/ledger/message.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'message: a live lease taken',
      find: 'if (message.leaseUntil > now && message.owner !== owner) return false\n',
      replace: '\n',
      breaks: 'Two posters say one review side by side.',
    },
    {
      name: 'message: settled by who was replaced',
      find: `    remove: lookAt === undefined ? ['duePk', 'dueAt', 'lookAt', 'owner'] : ['owner'],
    if: { state: message.state, owner },`,
      replace: `    remove: lookAt === undefined ? ['duePk', 'dueAt', 'lookAt', 'owner'] : ['owner'],
    if: { state: message.state },`,
      breaks: 'A poster that was replaced ends a message that another works on.',
    },
    {
      name: 'message: withdrawn at once though a poster holds it',
      find: 'Math.max(now, message.leaseUntil)',
      replace: 'now',
      breaks: 'The last look comes while a poster may still submit.',
    },
    {
      name: 'message: a later attempt’s withdrawn',
      find: "if: { state: 'owed', attempt: message.attempt },",
      replace: "if: { state: 'owed' },",
      breaks: 'The end of attempt 1 withdraws what attempt 2 owes.',
    },
    {
      name: 'message: its second look forgotten when it is said',
      find: 'const again = lookAt === undefined ? {} : { lookAt, ...due(key, lookAt) }',
      replace: 'const again = lookAt === undefined ? {} : { lookAt }',
      breaks: 'What a replaced poster left is found by nobody.',
    },
  ],
)

const resources = mutantsOf(
  {
    file: 'shared/ledger/resource.ts',
    tests: ['test/shared/ledger/resource.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'resources: a live lease taken',
      find: 'if (resources.leaseUntil > now && resources.owner !== owner) return false\n',
      replace: '\n',
      breaks: 'Two posters show one resource side by side.',
    },
    {
      name: 'resources: recorded over a raise',
      find: 'if: { owner, version: current.version },',
      replace: 'if: { owner },',
      breaks: 'What was raised while an older generation was shown is due no more.',
    },
    {
      name: 'resources: recorded by who was replaced',
      find: 'if: { owner, version: current.version },',
      replace: 'if: { version: current.version },',
      breaks: 'A poster that was replaced gives back a lease that another holds.',
    },
    {
      name: 'resources: raised by a run that has ended',
      find: "'#state = :ending AND #attempt = :attempt'",
      replace: "'#state = :ending OR #attempt = :attempt'",
      breaks: 'The end of attempt 1 closes the check run of attempt 2.',
    },
    {
      name: 'resources: their second look forgotten',
      find: 'lookAt ?? Infinity)\n}',
      replace: 'Infinity)\n}',
      breaks: 'What a replaced poster changed late stays on GitHub.',
    },
    {
      name: 'resources: an owed check run of a head that has passed forgotten',
      find: "if (resource.kind !== 'check_run' || nextAt(resource, 0) !== Infinity) return false",
      replace: "if (resource.kind !== 'check_run') return false",
      breaks: 'The check run of an older head stays in progress for ever.',
    },
  ],
)

const swept = mutantsOf(
  {
    file: 'functions/sweep/sweep.ts',
    tests: ['test/functions/sweep/sweep.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'sweep: a slot of an earlier epoch is not void',
      find: 'review?.epoch === epoch && (',
      replace: '(review?.epoch ?? 0) >= epoch && review !== undefined && (',
      breaks: 'A place that was taken back is never given to another.',
    },
    {
      name: 'sweep: the slot of a worker that works is void',
      find: " || review.state === 'leased')\n",
      replace: ')\n',
      breaks: 'The place of a review that is being read is given to another.',
    },
    {
      name: 'sweep: reviews of an earlier attempt wanted',
      find: "run?.attempt === review.attempt && run.state === 'running'",
      replace: "run?.state === 'running'",
      breaks: 'A review that nobody waits for takes places again and again.',
    },
    {
      name: 'sweep: a running run without an execution left alone',
      find: "return execution === 'running' ? { kind: 'look_later' } : { kind: 'fail' }",
      replace: "return execution === 'ended' ? { kind: 'fail' } : { kind: 'look_later' }",
      breaks: 'A run whose execution is not there stays in progress for ever.',
    },
    {
      name: 'sweep: a held run goes on under its halt',
      find: "return mustWait ? { kind: 'look_later' } : { kind: 'resume' }",
      replace: "return { kind: 'resume' }",
      breaks: 'A held run is planned every minute, and held again.',
    },
  ],
)

const takenUp = mutantsOf(
  {
    file: 'functions/sweep/take-up.ts',
    tests: ['test/functions/sweep/take-up.test.ts'],
    schedules: ['test/simulation/schedules/fleet.test.ts', 'test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'sweep: a run that has moved on is failed',
      find: 'if (run?.version !== due.version) return\n',
      replace: 'if (!run) return\n',
      breaks: 'A run that was held or done just before its execution ended is failed.',
    },
    {
      name: 'sweep: a grant that was never told left alone',
      find: "review?.state === 'waiting' ? [ticketOf(review)] : []",
      replace: "review?.state === 'ended' ? [ticketOf(review)] : []",
      breaks: 'A review keeps a slot that it was never told of.',
    },
    {
      name: 'sweep: void slots kept',
      find: 'await handOn(parts, voidSlots(fleet.slots, reviews), ungranted)',
      replace: 'await handOn(parts, voidSlots({}, reviews), ungranted)',
      breaks: 'The place of a worker that completed and died stays taken.',
    },
    {
      name: 'sweep: a lost ticket not put again',
      find: 'if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(parts, review)\n',
      replace: '\n',
      breaks: 'A review whose Admit died before its ticket waits for ever.',
    },
    {
      name: 'sweep: a free place left while someone waits',
      find: "return tick.once('hand_on', () => handOn(parts))",
      replace: 'return',
      breaks: 'Who left a place free and died keeps it from who waits.',
    },
    {
      name: 'sweep: a done review’s task not told',
      find: 'if (isDone(review.state)) return tellDone(parts, review)',
      replace: 'if (isDone(review.state)) return',
      breaks: 'A worker that completed and died leaves a task that waits for days.',
    },
    {
      name: 'sweep: a concluded run not finished',
      find: 'if (await finishIfShown(parts, run.runId)) return\n',
      replace: '\n',
      breaks: 'A run that is shown ends only when post has looked at it once more.',
    },
  ],
)

const sweptRows = mutantsOf(
  {
    file: 'functions/sweep/handler.ts',
    tests: ['test/functions/sweep/handler.test.ts', 'test/functions/sweep/take-up.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'sweep: a row moved on only after it was done',
      find: `    await lookLater(ledger, key, item.dueAt, lookAgainAt(item, now, lookMs))
    POINT: await reached('sweep.moved_on')
    await takeUp(parts, item, tick)`,
      replace: `    await takeUp(parts, item, tick)
    POINT: await reached('sweep.moved_on')
    await lookLater(ledger, key, item.dueAt, lookAgainAt(item, now, lookMs))`,
      breaks: 'A row whose action fails is the first for ever.',
    },
  ],
)

export const rooms = [
  ...claims,
  ...admitted,
  ...concluded,
  ...judged,
  ...said,
  ...messages,
  ...resources,
  ...swept,
  ...takenUp,
  ...sweptRows,
]
