/** Mutants of posting: decisions and actions towards GitHub, and their state in the ledger. */
import { mutantsOf } from '../mutant.ts'

const judged = mutantsOf(
  {
    file: 'functions/post/core/posting.ts',
    tests: ['test/functions/post/core/posting.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'post: an earlier attempt’s message posted',
      find: 'live?.runId !== run.runId || live.attempt !== message.attempt || run.state',
      replace: 'live?.runId !== run.runId || run.state',
      breaks: 'An earlier attempt’s message stands beside the later attempt’s message.',
    },
    {
      name: 'post: posted under a halt',
      find: "if (facts.halted) return 'halted'\n",
      replace: '\n',
      breaks: 'Muster writes to a halted repository.',
    },
    {
      name: 'post: posted though the head has moved',
      find: "if (head !== 'live') return 'head_moved'\n",
      replace: '\n',
      breaks: 'A review of an older head follows the review of a newer head.',
    },
    {
      name: 'post: a lagging view ends the run',
      find: "if (head === 'not_yet') return 'not_visible'\n",
      replace: '\n',
      breaks: 'No run reviews the newest head after GitHub has shown the previous head for a moment.',
    },
    {
      name: 'post: posted during withdrawal',
      find: "if (message.state === 'withdrawing') return 'withdrawing'\n",
      replace: '\n',
      breaks: 'A run that is ending posts its review.',
    },
    {
      name: 'post: no recheck after a takeover',
      find: 'if (item.owner !== undefined || unanswered) return now + leaseMs',
      replace: 'if (unanswered) return now + leaseMs',
      breaks: 'A late effect of a replaced poster is not undone.',
    },
    {
      name: 'post: no recheck after a call without an answer',
      find: 'if (item.owner !== undefined || unanswered) return now + leaseMs',
      replace: 'if (item.owner !== undefined) return now + leaseMs',
      breaks: 'A late effect of a call at GitHub stands beside the message that was posted since.',
    },
    {
      name: 'post: a throttle counts as an error',
      find: "because.code !== 'github_throttled' && because.code !== 'busy'",
      replace: "because.code !== 'busy'",
      breaks: 'A review fails because GitHub throttled five times.',
    },
    {
      name: 'post: an accepted post given up while GitHub’s lists lag',
      find: 'isLookedFor ? POST_UNSEEN_MAX : POST_ERRORS_MAX',
      replace: 'POST_ERRORS_MAX',
      breaks: 'A run is failed although its review becomes visible a few seconds later.',
    },
    {
      name: 'post: a resource tried before its time',
      find: '(shownGeneration < generation && tryAt <= now)',
      replace: '(shownGeneration < generation)',
      breaks: 'Every nudge calls a failing GitHub.',
    },
    {
      name: 'post: an overtaken run’s resource is posted',
      find: "return overtaken && !leftBehind ? 'void' : 'post'",
      replace: "return 'post'",
      breaks: 'The check run shows a verdict of a cancelled run.',
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
      breaks: 'A poster that dies in between leaves a review that uses no round.',
    },
    {
      name: 'post: posted during withdrawal, and not marked',
      find: "if (current?.state === 'withdrawing') await settleMessage",
      replace: "if (current?.state === 'owed') await settleMessage",
      breaks: 'The run of the newer head waits until the poster’s lease has ended and the sweeper has come.',
    },
    {
      name: 'post: an unanswered recheck is not due again',
      find: '{ ...until, error: false, recheckAt: until.at }',
      replace: '{ ...until, error: false, recheckAt: undefined }',
      breaks: 'The sweeper rechecks a message whose lease a late call has taken, every minute without end.',
    },
    {
      name: 'post: no check before each step',
      find: "return stopped.reason === undefined ? 'go' : 'stop'",
      replace: "return 'go'",
      breaks: 'The poster submits a review after the end of its run.',
    },
    {
      name: 'post: no check of the lease before each step',
      find: "if (!run || !(await stillLeased(ledger, message, owner))) return { reason: 'not_live' }",
      replace: "if (!run) return { reason: 'not_live' }",
      breaks: 'A replaced poster goes on beside its successor.',
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
      name: 'post: no recheck of a message that was given up',
      find: "{ state: 'failed', reason }, now() + ledger.timings.postLeaseMs)",
      replace: "{ state: 'failed', reason })",
      breaks: 'A review stands on GitHub that its run doesn’t count as posted, and uses no round.',
    },
    {
      name: 'post: posted without the lease',
      find: 'isDue(message, now()) && leaseMessage(ledger, message, owner, now())',
      replace: 'isDue(message, now()) && ((await leaseMessage(ledger, message, owner, now())) || true)',
      breaks: 'Two posters post one review side by side.',
      survives:
        'The poster checks the lease again before each visible step, and a poster without the lease records nothing.',
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
      breaks: 'Two posters post one review side by side.',
    },
    {
      name: 'message: settled by a replaced poster',
      find: `    remove: recheckAt === undefined ? ['duePk', 'dueAt', 'recheckAt', 'owner'] : ['owner'],
    if: { state: message.state, owner },`,
      replace: `    remove: recheckAt === undefined ? ['duePk', 'dueAt', 'recheckAt', 'owner'] : ['owner'],
    if: { state: message.state },`,
      breaks: 'A replaced poster settles a message that another poster works on.',
    },
    {
      name: 'message: withdrawn at once despite a poster’s lease',
      find: 'Math.max(now, message.leaseUntil)',
      replace: 'now',
      breaks: 'The recheck comes while a poster may still submit.',
    },
    {
      name: 'message: a later attempt’s message withdrawn',
      find: "if: { state: 'owed', attempt: message.attempt },",
      replace: "if: { state: 'owed' },",
      breaks: 'The end of attempt 1 withdraws the message of attempt 2.',
    },
    {
      name: 'message: the recheck forgotten once said',
      find: 'const again = recheckAt === undefined ? {} : { recheckAt, ...due(key, recheckAt) }',
      replace: 'const again = recheckAt === undefined ? {} : { recheckAt }',
      breaks: 'No process finds the late effect of a replaced poster.',
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
      breaks: 'A resource that was raised while an older generation was shown is no longer due.',
    },
    {
      name: 'resources: recorded by a replaced poster',
      find: 'if: { owner, version: current.version },',
      replace: 'if: { version: current.version },',
      breaks: 'A replaced poster releases the lease of another poster.',
    },
    {
      name: 'resources: raised by an ended run',
      find: "'#state = :ending AND #attempt = :attempt AND #outcome = :outcome'",
      replace: "'(#state = :ending OR #attempt = :attempt) AND #outcome = :outcome'",
      breaks: 'The end of attempt 1 closes the check run of attempt 2.',
    },
    {
      name: 'resources: raised for an outdated ending',
      find: "'#state = :ending AND #attempt = :attempt AND #outcome = :outcome'",
      replace: "'#state = :ending AND #attempt = :attempt AND (#outcome = :outcome OR #state = :ending)'",
      breaks: 'GitHub shows a cancelled run as closed with its pull request.',
    },
    {
      name: 'resources: the recheck forgotten',
      find: 'recheckAt ?? Infinity)\n}',
      replace: 'Infinity)\n}',
      breaks: 'A late change by a replaced poster stays on GitHub.',
    },
    {
      name: 'resources: an earlier head’s owed check run forgotten',
      find: "if (resource.kind !== 'check_run' || nextAt(resource, 0) !== Infinity) return false",
      replace: "if (resource.kind !== 'check_run') return false",
      breaks: 'The check run of an older head stays in progress for ever.',
    },
  ],
)

export const post = [...judged, ...said, ...steps, ...reviews, ...messages, ...resources]
