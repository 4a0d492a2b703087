/** Of what is decided and done to show something on GitHub, and of what the ledger knows of it. */
import { mutantsOf } from '../mutant.ts'

const judged = mutantsOf(
  {
    file: 'functions/post/core/posting.ts',
    tests: ['test/functions/post/core/posting.test.ts'],
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
      name: 'post: what GitHub took given up while its lists lag',
      find: 'isLookedFor ? POST_UNSEEN_MAX : POST_ERRORS_MAX',
      replace: 'POST_ERRORS_MAX',
      breaks: 'A run has failed whose review everybody reads a few seconds later.',
    },
    {
      name: 'post: a resource tried before its time',
      find: '(shownGeneration < generation && tryAt <= now)',
      replace: '(shownGeneration < generation)',
      breaks: 'A GitHub that fails is asked as often as there are nudges.',
    },
    {
      name: 'post: what an overtaken run wanted is shown',
      find: "return overtaken && !leftBehind ? 'void' : 'post'",
      replace: "return 'post'",
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
  FAILPOINT: await failpoint('post.round_counted')
  const said = { state: 'said', githubId: seen.reviewId } as const
  if (await settleMessage(ledger, message, owner, said, recheckAt)) return`,
      replace: `  const said = { state: 'said', githubId: seen.reviewId } as const
  const isSettled = await settleMessage(ledger, message, owner, said, recheckAt)
  FAILPOINT: await failpoint('post.round_counted')
  if (message.round > 0) await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)
  if (isSettled) return`,
      breaks: 'Who dies in between leaves a review that uses no round.',
    },
    {
      name: 'post: said while it began to be withdrawn, and not marked',
      find: "if (current?.state === 'withdrawing') await settleMessage",
      replace: "if (current?.state === 'owed') await settleMessage",
      breaks: 'The run of the newer head waits until the poster’s lease has ended and the sweeper has come.',
    },
    {
      name: 'post: a look that GitHub doesn’t answer is not due again',
      find: '{ ...until, error: false, recheckAt: until.at }',
      replace: '{ ...until, error: false, recheckAt: undefined }',
      breaks: 'A message whose lease a late call has taken is looked at every minute for ever, and nothing is done.',
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

const steps = mutantsOf(
  {
    file: 'functions/post/message-steps.ts',
    tests: ['test/functions/post/posting.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'post: no second look at what was given up',
      find: "{ state: 'failed', reason }, now() + ledger.timings.postLeaseMs)",
      replace: "{ state: 'failed', reason })",
      breaks: 'A review stands on GitHub that its run never said, and uses no round.',
    },
    {
      name: 'post: said without the lease',
      find: 'isDue(message, now()) && leaseMessage(ledger, message, owner, now())',
      replace: 'isDue(message, now()) && ((await leaseMessage(ledger, message, owner, now())) || true)',
      breaks: 'Two posters say one review side by side.',
      survives:
        'The lease is asked again before each step that others would see, and who doesn’t hold it records nothing. Taking it first saves such a poster its reads.',
    },
  ],
)

const reviews = mutantsOf(
  {
    file: 'shared/publishing/review-steps.ts',
    tests: ['test/shared/publishing/review-steps.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'review: a refused delete taken for a deletion',
      find: "  if (taken.answer === 'not_accepted') return readBack(known, notVisible('the review'))\n",
      replace: '\n',
      breaks: 'A review that was submitted just before its run ended uses no round.',
    },
    {
      name: 'review: created again while the first create may still land',
      find: '  if (taken.unanswered !== undefined && adopted === undefined) return leave(known, taken.unanswered)\n',
      replace: '\n',
      breaks: 'GitHub is asked for a second review while it works on the first.',
    },
    {
      name: 'review: a pending one adopted whatever it says',
      find: 'pending.find(({ body }) => isVersionOf(known, body))',
      replace: 'pending.at(0)',
      breaks: 'The text for an older head is submitted in place of the newer one.',
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
      find: `    remove: recheckAt === undefined ? ['duePk', 'dueAt', 'recheckAt', 'owner'] : ['owner'],
    if: { state: message.state, owner },`,
      replace: `    remove: recheckAt === undefined ? ['duePk', 'dueAt', 'recheckAt', 'owner'] : ['owner'],
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
      find: 'const again = recheckAt === undefined ? {} : { recheckAt, ...due(key, recheckAt) }',
      replace: 'const again = recheckAt === undefined ? {} : { recheckAt }',
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
      find: "'#state = :ending AND #attempt = :attempt AND #outcome = :outcome'",
      replace: "'(#state = :ending OR #attempt = :attempt) AND #outcome = :outcome'",
      breaks: 'The end of attempt 1 closes the check run of attempt 2.',
    },
    {
      name: 'resources: raised for an ending that has become another',
      find: "'#state = :ending AND #attempt = :attempt AND #outcome = :outcome'",
      replace: "'#state = :ending AND #attempt = :attempt AND (#outcome = :outcome OR #state = :ending)'",
      breaks: 'A run that somebody cancelled says on GitHub that its pull request was closed.',
    },
    {
      name: 'resources: their second look forgotten',
      find: 'recheckAt ?? Infinity)\n}',
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

export const post = [...judged, ...said, ...steps, ...reviews, ...messages, ...resources]
