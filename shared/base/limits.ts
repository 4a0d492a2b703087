/** Every bound, time and size of functions/ and shared/, named with its unit and its reason. A law keeps such numbers out of other files. */

/** Version of the data between rooms in Step Functions; a function accepts its own version and the previous one. */
export const CONTRACT = 1

// --- the fleet -------------------------------------------------------------------------------------------------------
/** Reviews leased at once across the whole fleet when nothing else is configured (AW94). */
export const FLEET_CONCURRENCY_DEFAULT = 15
/** Slots of one fleet item: the item stays far below DynamoDB's limit of 400 KB. */
export const FLEET_SLOTS_MAX = 200
/** Reviews that external workers may hold at once, whatever the configuration (CE2). */
export const EXTERNAL_POOL_CEILING = 16
/** Pools with limits of their own, which are stored on the fleet item beside the slots. */
export const POOLS_LIMITED_MAX = 50
/** A pool's name, characters: a model's name with its prefix. */
export const POOL_NAME_CHARS_MAX = 210
/** The digest at the end of a pool's name whose model name was changed for keys, characters. */
export const POOL_DIGEST_CHARS = 8
/** Slots granted, or released, in one write of the fleet: each expression stays below DynamoDB's 4 KB. */
export const SLOTS_PER_WRITE_MAX = 25
/** Queue markers that one hand-over reads: repositories and pools with waiting work; one query of less than 1 MB. */
export const QUEUES_READ_MAX = 4_000
/** Queues whose tickets one hand-over reads. If more queues have tickets, each hand-over takes another selection. */
export const QUEUES_LOOKED_INTO_MAX = 50
/** Tickets that one hand-over reads from a queue at least: some tickets may be void. */
export const TICKETS_READ_MIN = 20
/** Queues, and tickets of each queue, that the API shows; a mark says that the list was cut. */
export const QUEUES_SHOWN_MAX = 25
export const TICKETS_SHOWN_MAX = 20
/** A grant younger than this is left to its writer, ms: reading, writing and telling take a second or two. */
export const GRANT_FRESH_MS = 10_000
/** How much earlier a review's turn is if a person asked for the review, ms. */
export const TURN_ASKED_MS = 10 * 60_000
/** An inline Map of Step Functions runs at most 40 iterations at once; a plan has at most as many reviews. */
export const PLAN_REVIEWS_MAX = 40

// --- leases ----------------------------------------------------------------------------------------------------------
/** How long a lease on a review holds without renewal, ms, if the deployment doesn't say. */
export const REVIEW_LEASE_MS_DEFAULT = 180_000
/** The shortest lease that a deployment may set, ms. */
export const REVIEW_LEASE_MS_MIN = 3_000
/** Renewals within the time of a lease, so that two renewals in a row may fail. */
export const HEARTBEATS_PER_LEASE = 3
/** The part of a lease for which a throttled model is left alone at least: 15 s of a lease of three minutes. */
export const CLOSINGS_PER_LEASE = 12
/** Lost workers in one attempt after which a review is given up. */
export const REVIEW_LOSSES_MAX = 5
/** Step Functions' text about a crash, characters: the API allows no longer cause. */
export const CRASH_CAUSE_CHARS_MAX = 32_768
/** Time at the end of a function for storing a result, completing and handing over, ms. */
export const WORK_RESERVE_MS = 10_000
/** A worker with less time left doesn't begin, ms (AW28): the reserve, and time for a lens to answer. */
export const WORK_REMAINING_MIN_MS = 20_000

// --- time ------------------------------------------------------------------------------------------------------------
/** Time for a webhook's answer, ms, whatever the table does: GitHub waits 10 s (AW11). */
export const WEBHOOK_BUDGET_MS = 8_000
/** A command or API call records its run within this time, ms. */
export const RUN_ACCEPTED_MS = 8_000
/**
 * How long a run waits to be planned while GitHub has no answer or sets a limit, ms. GitHub's hourly limit ends within
 * an hour, and an outage of more than two hours needs a person.
 */
export const PLAN_PATIENCE_MS = 7_200_000
/** How long GitHub's API may show an older head than the webhook named before the run fails, ms. */
export const HEAD_VISIBLE_WITHIN_MS = 180_000
/** Deadline of one call to GitHub, ms. */
export const GITHUB_CALL_MS = 10_000
/**
 * Age at which an installation token is renewed, ms: GitHub's tokens live 1 h, and none is used to its last second
 * (AW83).
 */
export const GITHUB_TOKEN_RENEW_MS = 55 * 60_000
/** How far before now an App's JWT is dated, s: a clock a little ahead is not refused (GitHub's own advice, AW82). */
export const GITHUB_JWT_BACKDATE_S = 60
/** How long an App's JWT is valid from now, s: GitHub allows 10 minutes at most (AW82). */
export const GITHUB_JWT_VALID_S = 9 * 60
/** How long our own identity at GitHub is believed, ms: an App may be renamed while a container is warm (D12). */
export const GITHUB_IDENTITY_MS = 10 * 60_000
/** Wait after a secondary limit that names no time, ms: GitHub asks for a minute at least. */
export const GITHUB_THROTTLED_MS = 60_000
/** Wait after GitHub was not reachable or gave no usable answer, ms. */
export const GITHUB_UNREACHABLE_MS = 5_000
/** Wait after a write that a read-back doesn't show yet, ms: GitHub's lists lag behind (AW73), by seconds at worst. */
export const GITHUB_READ_BACK_MS = 10_000
/** The least rest of a deadline in which a read is tried a second time, ms. */
export const GITHUB_SECOND_TRY_MIN_MS = 2_000
/** Content that one installation creates in any minute: GitHub allows 80, and counts more kinds of requests (AW76). */
export const CONTENT_PER_MINUTE_MAX = 60
/** Content that one installation creates in any hour: GitHub allows 500 (AW76). */
export const CONTENT_PER_HOUR_MAX = 400
/** Deadline of one call to an AWS service, ms. */
export const AWS_CALL_MS = 5_000
/** Deadline of connecting to an AWS service, ms. */
export const AWS_CONNECT_MS = 1_000
/** Wait after an AWS service had no capacity, or could not be reached, in spite of the SDK's own tries, ms. */
export const AWS_RETRY_AFTER_MS = 1_000
/** Deadline of one try of a model, ms. */
export const MODEL_CALL_MS = 300_000
/** Wait for a throttled or failing model endpoint that names no time, ms: a quota by the minute refills meanwhile. */
export const MODEL_RETRY_AFTER_DEFAULT_MS = 60_000
/** The longest wait for a model's endpoint, ms; an endpoint may ask for hours or days. */
export const MODEL_RETRY_AFTER_MAX_MS = 3_600_000
/**
 * Part of the throttled time after which a throttled model is asked again. If the model recovers meanwhile, the pool
 * stays closed for at most about a third longer than necessary.
 */
export const MODEL_CLOSED_PART = 1 / 3
/**
 * The longest time between two tries of a throttled model, ms. Together with MODEL_CLOSED_PART the time bounds how
 * often a review is throttled: see PATIENCE_MS_MAX.
 */
export const MODEL_CLOSED_MAX_MS = 6 * 60_000
/** The largest random delay of a model's next try, as a part of the wait: reviews don't all ask at one moment. */
export const MODEL_CLOSED_JITTER = 0.1
/**
 * Time after which a probe's call under way counts as admitted, ms: a throttling endpoint refuses at once. If the
 * endpoint refuses later nevertheless, the next throttled worker closes the pool again. A wrong opening costs one more
 * throttled call for each slot, or, at an endpoint that neither answers nor refuses, the time of one call.
 */
export const PROBE_ADMITTED_MS = 10_000
/** How long a review waits for a throttled model in all before giving up, ms, if the deployment doesn't say. */
export const PATIENCE_MS_DEFAULT = 60 * 60_000
/**
 * The longest patience, ms. In two hours a review is throttled 33 times at most, with 15 events of its execution's
 * history each time: 40 reviews stay below Step Functions' 25,000 events.
 */
export const PATIENCE_MS_MAX = 120 * 60_000
/** Age at which a secret is read again, ms; a failed read is never cached. */
export const SECRET_TTL_MS = 300_000
/** The least time between two reads of a secret after signature mismatches, ms. */
export const SECRET_REFRESH_COOLDOWN_MS = 10_000
/** Housekeeping only: how long ended runs, events, tickets and markers are kept, s (DynamoDB's TTL counts seconds). */
export const RETENTION_S = 90 * 24 * 3600

// --- due (items for the sweeper) -------------------------------------------------------------------------------------
/** Shards of the `due` index. */
export const DUE_SHARDS = 8
/** Items of all kinds that the sweeper takes from one shard in one tick; the rest waits for the next minute. */
export const DUE_PAGE = 100

// --- sizes -----------------------------------------------------------------------------------------------------------
/** A room's return value to Step Functions, bytes: far below the 262,144 that kill an execution uncatchably (AW61). */
export const STATE_BYTES_MAX = 32_768
/** A webhook's body, bytes: Lambda's 6 MB of synchronous payload with its envelope; GitHub itself sends up to 25 MB. */
export const WEBHOOK_BODY_BYTES_MAX = 5_500_000
/**
 * A comment's or a review's body on GitHub, UTF-8 bytes (GitHub allows 65,536 characters; bytes are safe either way).
 */
export const GITHUB_BODY_BYTES_MAX = 65_535
/** One answer of GitHub, bytes: ten times a page of 100 files of a pull request with their patches. */
export const GITHUB_ANSWER_BYTES_MAX = 50_000_000
/** The machine-readable block at the end of a summary, bytes: the block must not displace text for people. */
export const MACHINE_BLOCK_BYTES_MAX = 8_000
/** Annotations in one request to a check run. */
export const ANNOTATIONS_PER_REQUEST = 50
/** Annotations kept on one check run; the summary counts and names the rest. */
export const ANNOTATIONS_MAX = 500
/** Title of a check run's output, characters. */
export const CHECK_TITLE_CHARS_MAX = 255
/** The message of an annotation, UTF-8 bytes: GitHub takes 64 KB. */
export const ANNOTATION_BYTES_MAX = 16_384
/** The marker of a summary, bytes, which Post adds: ids and generation have at most 16 digits each. */
export const SUMMARY_MARKER_BYTES = 128
/** A reason of an incomplete verdict in the summary, UTF-8 bytes: a reason may name paths of any length. */
export const SUMMARY_REASON_BYTES_MAX = 600
/** The remedy of a finding that a summary shows in brief, UTF-8 bytes. */
export const BRIEF_REMEDY_BYTES_MAX = 240
/** Findings without an inline comment that a review's body names; the summary has all findings. */
export const FINDINGS_NAMED_IN_BODY_MAX = 5
/** Paths that a summary names for one reason; further paths are counted. */
export const PATHS_PER_REASON_MAX = 20
/** Paths that one sentence of a verdict names; the coverage table has all paths. */
export const PATHS_NAMED_MAX = 3
/** A finding's text, UTF-8 bytes (RC8). */
export const FINDING_BYTES_MAX = 16_384
/** The readable beginning of a redacted secret, characters: the length of `AKIA`, `ghp_`, `xoxb`. */
export const REDACTED_PREFIX_CHARS = 4
/** The shortest value that a lens conceals, characters: a shorter value would take ordinary words out of a text. */
export const CONCEALED_CHARS_MIN = 6
/** The least entropy of a random value, in bits for each character; English words stay below. */
export const RANDOM_BITS_PER_CHARACTER_MIN = 3.3
/** Findings that one lens may return for one part; more are cut, and the review states the cut. */
export const FINDINGS_PER_REVIEW_MAX = 200
/** Inline comments in one review; the rest stands in the summary. */
export const INLINE_COMMENTS_MAX = 60
/** Files of a pull request that GitHub lists at most. */
export const FILES_MAX = 3_000
/** Rows of one page of GitHub's lists. */
export const GITHUB_PAGE = 100
/** Pages read of any list of reviews or comments; the rest of a longer list is unknown, and reported as unknown. */
export const GITHUB_PAGES_MAX = 30
/** A file read whole for a lens, bytes; a larger file is named as not read. */
export const FILE_BYTES_MAX = 400_000
/** Files whose content a plan fetches. */
export const FILES_FETCHED_MAX = 300
/** Parallel calls to GitHub of one plan. */
export const GITHUB_CONCURRENCY = 8
/** Runs that one run wakes at its end, such as edits of a description; further runs wake by their own time. */
export const AWAITED_BY_MAX = 20
/** Task tokens on an item: Step Functions may wait for any of a room's repeated calls, so the item keeps this many. */
export const TOKENS_KEPT = 8
/** Delivery ids on a run. */
export const DELIVERIES_KEPT = 20
/** The pull request's description as given to a lens, UTF-8 bytes; a cut is reported (AD6). */
export const DESCRIPTION_BYTES_MAX = 20_000
/** The kept length of a comment, UTF-8 bytes: enough for a command and its words. */
export const COMMENT_BYTES_MAX = 2_000
/** A focus, or a reason of a pause, UTF-8 bytes. */
export const FOCUS_BYTES_MAX = 500
/** An unknown word that a reply repeats, characters. */
export const UNKNOWN_WORD_CHARS_MAX = 40
/** `.github/muster.yml`, bytes. */
export const CONFIGURATION_BYTES_MAX = 65_536
/** Lines of diff in one part of a model lens. */
export const PART_LINES_MAX = 1_500
/** One line of diff as given to a model, characters: a minified file is one line. A cut is reported. */
export const MODEL_LINE_CHARS_MAX = 2_000
/** An endpoint's own words about an error, UTF-8 bytes. */
export const MODEL_ERROR_BYTES_MAX = 400
/** The name of a model in `.github/muster.yml`, characters: a longer name is a mistake. */
export const MODEL_NAME_CHARS_MAX = 200
/** The sentence of a lens's failure, characters. */
export const LENS_FAILURE_CHARS_MAX = 500
/** The sentence of a GitHub error in logs and for people, characters. */
export const GITHUB_SENTENCE_CHARS_MAX = 500
/** The part of a GitHub error's body that is read, characters: the page of a proxy may have any size. */
export const GITHUB_ERROR_CHARS_MAX = 20_000
/** An execution's name, characters: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html */
export const EXECUTION_NAME_CHARS_MAX = 80
/** Messages of one run; more are a fault of Muster. */
export const MESSAGES_PER_RUN_MAX = 50
/** Review items of one run, over all attempts and plan keys; reading stops there. */
export const REVIEWS_PER_RUN_MAX = 400

// --- halts -------------------------------------------------------------------------------------------------------------
/** Halts at once: one item holds all, read whole at every claim; even a full item stays below DynamoDB's 400 KB. */
export const HALTS_MAX = 500
/** The author of a halt, UTF-8 bytes: a login at GitHub has at most 39 characters, a name in AWS more. */
export const HALT_BY_BYTES_MAX = 100
/** The reason of a halt, UTF-8 bytes. */
export const HALT_WHY_BYTES_MAX = 500

// --- rounds ----------------------------------------------------------------------------------------------------------
/** Rounds of a series when the configuration doesn't say. */
export const ROUNDS_CEILING_DEFAULT = 3
/** The highest `rounds.ceiling`: no team reads more rounds. */
export const ROUNDS_CEILING_MAX = 10

/** Rounds that a thread remembers by message: the highest ceiling, and as many again at once under way (IL2). */
export const ROUNDS_REMEMBERED_MAX = 2 * ROUNDS_CEILING_MAX

// --- retries ---------------------------------------------------------------------------------------------------------
/** Tries of one read-decide-write against a version that concurrent writers change too. */
export const CONFLICT_TRIES_MAX = 12
/** Errors (not throttles) after which a message is `failed` (LE9). */
export const POST_ERRORS_MAX = 5
/** Reads of GitHub's lists for one review in one invocation, beside the reads of a bisection; a later attempt does the rest. */
export const REVIEW_READS_MAX = 5
/** Reads in a recheck of a review: GitHub refuses a deletion because the review was submitted, and one more read shows the review. */
export const REVIEW_RECHECK_READS_MAX = 3
/** Rounds of one invocation for resources that were raised during the round before; the next nudge takes the rest. */
export const RESOURCE_ROUNDS_MAX = 3
/**
 * Tries after which a message is `failed` if GitHub accepted the message and doesn't show it. A message accepted at the
 * last try of POST_ERRORS_MAX is still looked for three times, minutes apart as the waits have grown. GitHub's lists
 * lag by seconds (AW73, LE14).
 */
export const POST_UNSEEN_MAX = POST_ERRORS_MAX + 3

/**
 * How long after its plan a run waits to learn whether an earlier run's review stands on GitHub, ms. Then the earlier
 * review's findings are posted, perhaps twice, rather than lost. A replacement of a dead poster comes within six
 * minutes (its queue's visibility).
 */
export const WITHDRAWAL_DECIDED_MS = 480_000

/** Until the next try after a conflict with another writer of ours, ms: most conflicts end within a second. */
export const CONFLICT_RETRY_MS = 1_000
/** Until the next try where a claim or a head has to become visible first, ms. */
export const CLAIM_RETRY_MS = 5_000
