/** Every limit that the code uses, named with its unit and its source. Nothing else in the project holds such a number. */

/** The version of what Step Functions carries between rooms; a function accepts its own and the previous one (DESIGN §2). */
export const CONTRACT = 1

// --- the fleet -------------------------------------------------------------------------------------------------------
/** Reviews leased at once across the whole fleet when nothing else is configured (AW94). */
export const FLEET_CONCURRENCY_DEFAULT = 15
/** Places one fleet item can hold, so that it stays far below the 400 KB of a DynamoDB item (DESIGN §5). */
export const FLEET_SLOTS_MAX = 200
/** Reviews that workers outside may hold at once, whatever is configured (CE2). */
export const EXTERNAL_POOL_CEILING = 16
/** Pools that may have limits of their own: they stand on the fleet item beside its slots. */
export const POOLS_LIMITED_MAX = 50
/** A pool's name, characters: a model's name with its prefix. */
export const POOL_NAME_CHARS_MAX = 210
/** Places granted, or released, in one write of the fleet: each of its expressions stays below DynamoDB's 4 KB. */
export const SLOTS_PER_WRITE_MAX = 25
/** Queues whose markers one hand-over reads: repositories and pools with waiting work; one query of less than 1 MB. */
export const QUEUES_READ_MAX = 4_000
/** Queues whose tickets one hand-over reads. Of more than these it takes others each time. */
export const QUEUES_LOOKED_INTO_MAX = 50
/** A grant younger than this is left to who made it, ms: reading, writing and telling take a second or two. */
export const GRANT_FRESH_MS = 10_000
/** Who asked for a review goes before what came by itself this much earlier, ms (DESIGN §5). */
export const TURN_ASKED_MS = 10 * 60_000
/** Shadow work goes behind what comes this much later, ms (DESIGN §5). */
export const TURN_SHADOW_MS = 3_600_000
/** An inline Map of Step Functions runs at most 40 iterations at once; a plan has at most as many reviews. */
export const PLAN_REVIEWS_MAX = 40

// --- leases ----------------------------------------------------------------------------------------------------------
/** How long a lease on a review holds without renewal, ms, if the deployment doesn't say. */
export const REVIEW_LEASE_MS_DEFAULT = 180_000
/** The shortest lease that a deployment may set, ms. */
export const REVIEW_LEASE_MS_MIN = 3_000
/** A lease is renewed this often within its time, so that two renewals in a row may fail (DESIGN §4). */
export const HEARTBEATS_PER_LEASE = 3
/** A throttled model is left alone for this part of a lease at least: 15 s of a lease of three minutes. */
export const CLOSINGS_PER_LEASE = 12
/** With this many workers lost in one attempt a review is given up (DESIGN §4: back to Admit at most 5 times). */
export const REVIEW_LOSSES_MAX = 5
/** What Step Functions says of a crash, characters: the most that its API allows for a cause. */
export const CRASH_CAUSE_CHARS_MAX = 32_768
/** What storing a result, completing and handing on may take at the end of a function's time, ms. */
export const WORK_RESERVE_MS = 10_000
/** A worker that has less than this left doesn't begin, ms (AW28): the reserve, and time for a lens to say something. */
export const WORK_REMAINING_MIN_MS = 20_000

// --- time ------------------------------------------------------------------------------------------------------------
/** GitHub gives a webhook 10 s; the answer is out by then whatever the table does, ms (AW11). */
export const WEBHOOK_BUDGET_MS = 8_000
/**
 * How long a run waits to be planned while GitHub has no answer or sets a limit, ms. Its hourly limit ends within an hour, and an outage
 * that is longer than two needs a person.
 */
export const PLAN_PATIENCE_MS = 7_200_000
/** How long GitHub's API may show an older head than the webhook named before the run fails, ms (DESIGN §9). */
export const HEAD_VISIBLE_WITHIN_MS = 180_000
/** Deadline of one call to GitHub, ms. */
export const GITHUB_CALL_MS = 10_000
/** An installation token lives 1 h at GitHub; ours is renewed at this age, ms, so that none is used in its last seconds (AW83). */
export const GITHUB_TOKEN_RENEW_MS = 55 * 60_000
/** How far before now an App's JWT is dated, s: a clock a little ahead is not refused (GitHub's own advice, AW82). */
export const GITHUB_JWT_BACKDATE_S = 60
/** How long an App's JWT is valid from now, s: GitHub allows 10 minutes at most (AW82). */
export const GITHUB_JWT_VALID_S = 9 * 60
/** How long our own identity at GitHub is believed, ms: an App may be renamed while a container is warm (D12). */
export const GITHUB_IDENTITY_MS = 10 * 60_000
/** After a secondary limit that names no time, ms: GitHub asks for a minute at least. */
export const GITHUB_THROTTLED_MS = 60_000
/** After GitHub was not reachable or gave no usable answer, ms. */
export const GITHUB_UNREACHABLE_MS = 5_000
/** After a write that a read-back doesn't show yet, ms: GitHub's lists lag behind (AW73), by seconds at worst. */
export const GITHUB_READ_BACK_MS = 10_000
/** A read is asked a second time only with this much of its deadline left, ms. */
export const GITHUB_SECOND_TRY_MIN_MS = 2_000
/** Content that one installation creates in any minute: GitHub allows 80, and counts some requests that we don't (AW76). */
export const CONTENT_PER_MINUTE_MAX = 60
/** Content that one installation creates in any hour: GitHub allows 500 (AW76). */
export const CONTENT_PER_HOUR_MAX = 400
/** Deadline of one call to an AWS service, ms. */
export const AWS_CALL_MS = 5_000
/** After an AWS service had no capacity, or could not be reached, in spite of the SDK's own tries, ms. */
export const AWS_RETRY_AFTER_MS = 1_000
/** A model that has not answered within this is given up for this try, ms. */
export const MODEL_CALL_MS = 300_000
/** When a throttled or failing endpoint of a model doesn't say: long enough for a quota by the minute to refill, ms. */
export const MODEL_RETRY_AFTER_DEFAULT_MS = 60_000
/** An endpoint may ask for hours or days; it is tried again before that, ms. */
export const MODEL_RETRY_AFTER_MAX_MS = 3_600_000
/**
 * A model that stays throttled is asked again after this part of the time that it has been so: if it answers again meanwhile,
 * the pool has been closed for about a third longer than it had to be, at worst.
 */
export const MODEL_CLOSED_PART = 1 / 3
/** But it is asked at least this often, ms. With that part it bounds how often a review is throttled: see PATIENCE_MS_MAX. */
export const MODEL_CLOSED_MAX_MS = 6 * 60_000
/** How much later a model is asked again than it has to be, at most, as a part of the wait: not by all at one moment. */
export const MODEL_CLOSED_JITTER = 0.1
/**
 * A probe's call that has been under way for so long has been let in, ms: who throttles refuses at once. Is it refused later
 * nevertheless, then whoever meets that closes the pool again: being wrong costs one more throttled call for each place, or,
 * at an endpoint that neither answers nor refuses, as long as a call may take.
 */
export const PROBE_ADMITTED_MS = 10_000
/** How long a review waits for a throttled model in all before it is given up, ms, if the deployment doesn't say. */
export const PATIENCE_MS_DEFAULT = 60 * 60_000
/**
 * The longest patience, ms. In two hours a review is throttled 33 times at most, which is 15 events of its execution's history
 * each time: 40 reviews stay below Step Functions' 25,000 events.
 */
export const PATIENCE_MS_MAX = 120 * 60_000
/** A secret is read again after this, ms; a failed read is never cached. */
export const SECRET_TTL_MS = 300_000
/** After a signature mismatch the secret is read once more, but not more often than this, ms. */
export const SECRET_REFRESH_COOLDOWN_MS = 10_000
/** Housekeeping only: how long ended runs, events, tickets and their markers are kept, s (DynamoDB's TTL counts seconds). */
export const RETENTION_S = 90 * 24 * 3600

// --- due (what the sweeper takes up) ---------------------------------------------------------------------------------
/** Shards of the `due` index. */
export const DUE_SHARDS = 8
/** Items the sweeper takes from one shard in one tick, of all kinds; the rest is next minute's. */
export const DUE_PAGE = 100

// --- sizes -----------------------------------------------------------------------------------------------------------
/** What a room may return to Step Functions, bytes: far below the 262,144 at which an execution dies uncatchably (AW61). */
export const STATE_BYTES_MAX = 32_768
/** A webhook's body, bytes: Lambda's 6 MB of synchronous payload with its envelope; GitHub itself sends up to 25 MB. */
export const WEBHOOK_BODY_BYTES_MAX = 5_500_000
/** A comment's or a review's body on GitHub, UTF-8 bytes (65,536 characters there; bytes are safe in either unit). */
export const GITHUB_BODY_BYTES_MAX = 65_535
/** One answer of GitHub, bytes: 100 files of a pull request with their patches, and an order of magnitude of room. */
export const GITHUB_ANSWER_BYTES_MAX = 50_000_000
/** The machine-readable block at the end of a summary, bytes: it must not push out what people read. */
export const MACHINE_BLOCK_BYTES_MAX = 8_000
/** Annotations in one request to a check run. */
export const ANNOTATIONS_PER_REQUEST = 50
/** Annotations kept on one check run; more are counted and named in the summary. */
export const ANNOTATIONS_MAX = 500
/** Title of a check run's output, characters. */
export const CHECK_TITLE_CHARS_MAX = 255
/** A finding's text, UTF-8 bytes (RC8). */
export const FINDING_BYTES_MAX = 16_384
/** Findings one lens may return for one part; more are cut, and the cut is stated. */
export const FINDINGS_PER_REVIEW_MAX = 200
/** Inline comments in one review; the rest stands in the summary. */
export const INLINE_COMMENTS_MAX = 60
/** Files GitHub lists for a pull request; it shows no more than these. */
export const FILES_MAX = 3_000
/** Rows of one page of GitHub's lists. */
export const GITHUB_PAGE = 100
/** Pages read of any list of reviews or comments; a list cut there is unknown beyond, and said so. */
export const GITHUB_PAGES_MAX = 30
/** A file read whole for a lens, bytes; larger ones are named as not read. */
export const FILE_BYTES_MAX = 400_000
/** Files whose content a plan fetches. */
export const FILES_FETCHED_MAX = 300
/** Calls to GitHub that a plan has under way at once. */
export const GITHUB_CONCURRENCY = 8
/** Runs that one run wakes when it ends: edits of a description while its head is reviewed; more are found by their own time. */
export const AWAITED_BY_MAX = 20
/** Task tokens an item keeps: of so many calls of one room, repeated by Step Functions, any may be the one that it waits for. */
export const TOKENS_KEPT = 8
/** Delivery ids a run remembers (DESIGN §4). */
export const DELIVERIES_KEPT = 20
/** The pull request's description as given to a lens, UTF-8 bytes; a cut is said (AD6). */
export const DESCRIPTION_BYTES_MAX = 20_000
/** `.github/muster.yml`, bytes. */
export const CONFIGURATION_BYTES_MAX = 65_536
/** Lines of diff in one part of a model lens. */
export const PART_LINES_MAX = 1_500
/** One line of diff as given to a model, characters: a minified file is one line. A cut is said. */
export const MODEL_LINE_CHARS_MAX = 2_000
/** What is kept of an endpoint's own words about an error, UTF-8 bytes. */
export const MODEL_ERROR_BYTES_MAX = 400

// --- halts -------------------------------------------------------------------------------------------------------------
/** Halts that stand at once: all are one item, read whole at every claim, so it stays below DynamoDB's 400 KB even if full. */
export const HALTS_MAX = 500
/** Who set a halt, UTF-8 bytes: a login at GitHub has at most 39 characters, a name in AWS more. */
export const HALT_BY_BYTES_MAX = 100
/** Why a halt was set, UTF-8 bytes. */
export const HALT_WHY_BYTES_MAX = 500

// --- rounds ----------------------------------------------------------------------------------------------------------
/** Rounds of a series when the configuration doesn't say (DESIGN §6). */
export const ROUNDS_CEILING_DEFAULT = 3
/** What `rounds.ceiling` may be at most: more rounds than anybody reads. */
export const ROUNDS_CEILING_MAX = 10

/** Rounds that a thread knows one by one: the highest ceiling, and as many again that were on their way (IL2). */
export const ROUNDS_REMEMBERED_MAX = 2 * ROUNDS_CEILING_MAX

// --- retries ---------------------------------------------------------------------------------------------------------
/** Tries of one read-decide-write against a version that others change too. */
export const CONFLICT_TRIES_MAX = 12
/** Errors (not throttles) after which a message is `failed` (LE9). */
export const POST_ERRORS_MAX = 5
/**
 * So many before one is `failed` that GitHub said it took and doesn't show: taken by the last of the tries above, it is still
 * looked for three times, minutes apart, as the waits have grown by then. GitHub's lists lag by seconds (AW73, LE14).
 */
export const POST_UNSEEN_MAX = POST_ERRORS_MAX + 3

/**
 * ms since a run was planned for which it waits to know whether an earlier run's review stands on GitHub; then that review's
 * findings are said, perhaps twice, rather than lost. A poster that died is followed by another within six minutes (its queue's visibility).
 */
export const WITHDRAWAL_DECIDED_MS = 480_000
