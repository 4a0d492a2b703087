/** Writes docs/security.md from the reach table, the rooms and the acknowledged findings of cdk-nag: `node docs/security.ts`. */
import { writeFileSync } from 'node:fs'
import { acknowledgements } from '../infra/acknowledged.ts'
import { type Access, type ReasonedReach, reach } from '../infra/reach.ts'
import { type RoomName, roomNames, rooms } from '../infra/rooms.ts'

/** The page as Markdown. */
export function securityPage(): string {
  return `${[introduction, ...roomNames.map(sectionOf), secrets(), atRest, leaving(), threats, answers()].join('\n\n')}\n`
}

const introduction = `<!-- Written by docs/security.ts from infra/reach.ts and infra/acknowledged.ts. Change those, then run: node docs/security.ts -->
# Security

What each room may touch and why, where data and secrets are, what leaves the account, and what an attacker would find.

A **room** is one Lambda function with a role of its own. The stack grants a role exactly the rows below. Tests compare them with the policies that
CDK synthesizes and with the calls in each function's bundle (\`test/infra/reach.test.ts\`), so that a room is allowed nothing beyond its
code. Each role may also write to its own log, and send traces to X-Ray.

## What each room may touch`

function sectionOf(room: RoomName): string {
  const { why } = reach[room]
  const rows = (Object.keys(why) as Access[]).map((access) => `| ${wording[access](reach[room])} | ${why[access]} |`)
  return [`### ${room}`, '', `${rooms[room].description}.`, '', '| may | why |', '| --- | --- |', ...rows].join('\n')
}

/** Each access in words; asked only for an access that the room has. */
const wording: Readonly<Record<Access, (reach: ReasonedReach) => string>> = {
  ledger: ({ ledger }) => `ledger: ${listed(ledger.map((use) => ledgerWords[use]))}`,
  finds: () => 'ledger: query the index of due items',
  documents: ({ documents }) => `documents: ${listed(documents.map((use) => (use === 'reads' ? 'read' : 'write')))}`,
  sends: ({ sends }) => `send a nudge to ${listed(sends.map((queue) => `the ${queue} queue`))}`,
  receives: ({ receives }) => `be invoked by the ${receives} queue`,
  executions: ({ executions }) => `executions: ${listed(executions.map((use) => executionWords[use]))}`,
  answers: () => 'answer task tokens of executions',
  secrets: (of) => `read ${listed(of.secrets.map((name) => `the secret \`${name}\``))}`,
  github: () => 'talk to GitHub, as the App',
  choosesModel: () => 'know the configured model',
}

const ledgerWords = {
  reads: 'read items',
  creates: 'create them',
  changes: 'change them',
  deletes: 'delete them',
  checks: 'make a transaction depend on them',
} as const

const executionWords = { starts: 'start', describes: 'describe', stops: 'stop' } as const

function secrets(): string {
  return `## Secrets

| secret | holds | read by |
| --- | --- | --- |
| \`github-app\` | the App's id and private key, and one or two webhook secrets | ${readersOf('github-app')} |
| \`models\` | the key of the model's endpoint | ${readersOf('models')} |

The stack creates both secrets empty, and a person fills them in ([deploy.md](deploy.md)). Template, environment variables and outputs hold only their
ARNs. A function keeps a secret in memory for five minutes and writes it nowhere. In a rotation the new webhook secret is added before the old one,
and the old one removed once GitHub has the new one: no delivery is refused meanwhile.

Private key and webhook secrets are one secret. The webhook room needs only the latter and could read the former.`
}

const atRest = `## Data at rest

| where | what | encrypted with | kept |
| --- | --- | --- | --- |
| ledger (DynamoDB) | identifiers, states, counts; texts of findings only as digests of documents | the account's key for DynamoDB (KMS) | runs and events 90 days after their end; threads until you delete them; point-in-time recovery for 35 days |
| documents (S3) | plans, **the text of changed files**, results, conclusions, what is posted | SSE-S3 | until you delete them |
| queues (SQS) | nudges: a repository's id, a number, a run's id | SSE-SQS | 4 days; dead letters 14 days |
| execution history (Step Functions) | identifiers and small numbers | AWS's own key | 90 days |
| logs (CloudWatch) | a closed list of fields: ids, codes, counts, times | AWS's own key | 30 days (\`muster:logRetentionDays\`) |

Ledger, documents and secrets outlive the stack, and the ledger is protected from deletion. The bucket is private; bucket and queues refuse requests
without TLS. A secret in a diff is cut down to a recognisable prefix before it becomes a finding, a log line or a prompt; the file with the secret
is stored among the documents as it is.`

function leaving(): string {
  const talkers = listed(roomNames.filter((room) => reach[room].github))
  return `## What leaves the account

- **To GitHub**, from ${talkers}: their questions, and Muster's posts. Only to the host in \`muster:githubApiUrl\`.
- **To the model's endpoint**, from ${readersOf('models')}: the title and description of a pull request, parts of its diff, and the quotes of open findings, without recognised
  secrets. Only to \`muster:modelBaseUrl\`; without that setting nothing is sent, and the model lenses are named as not read.
- Nothing else. Muster has no telemetry, and CDK's own is off in \`cdk.json\`. A mailed alarm (\`muster:alarmEmail\`) holds its name and its number.

The functions are in no VPC: no network rule keeps them from the internet. Their only bound is the credentials above. An organisation that wants a
network boundary too puts the functions into a VPC with an egress proxy.`
}

const threats = `## Threats

**A forged webhook.** The webhook's route is public, as GitHub needs. A delivery counts only if \`X-Hub-Signature-256\` is the HMAC of its exact bytes
under one of the webhook secrets, compared in constant time, before anything is written. A wrong signature is answered 401; neither the given nor the
expected signature is logged. A repeated delivery changes nothing: its run is known by its cause.

**A flood.** The gateway takes 100 requests a second (\`muster:webhookRequestsPerSecond\`) and bodies that Lambda can hold; each queue invokes at most 10
functions. GitHub doesn't repeat a refused delivery: raise the rate before you need it. \`muster:reservedConcurrency.<room>\` keeps Muster's functions
and others in the account from starving each other.

**A hostile pull request.** Nothing of it is executed: no checkout, no build, no hooks. Analyzers only parse text; they run in the process of the room
review, and get neither its model key nor a network. Configuration, templates and instructions come from the *base* branch, so that a pull request
doesn't write its own rules.

**Words to the model.** A pull request's text is a claim, not an instruction. The text is passed as data, without hidden characters and HTML comments,
and text that speaks to a reviewer is itself reported. A model gets no tool, no credential and no network. Its answer is data of a fixed shape: a
finding whose quote isn't in the diff is rejected and counted. The worst effect of such words is a finding more or less, in a review that
is one voice among people. Don't let Muster's verdict be the only thing between a stranger's code and production.

**Words to the reader.** Texts of models and authors are posted as text: mark-up that would mention people, draw, link or look like Muster's own
headings and markers is made harmless.

**A stolen role.** The room ${listed(roomNames.filter((room) => reach[room].secrets.includes('models')))} reads the most hostile input, and holds no GitHub credential. Rooms that talk to GitHub (${listed(roomNames.filter((room) => reach[room].github))}) get no model's raw answer.
No role may scan the ledger, delete a document, change a policy or pass a role. The ledger is one table: a role that may change items may change
those of every repository.

**An operator's mistake.** A fixed name could make a kept table block a deploy: the stack has no fixed names. Concurrency below that of a queue would
send messages unread to the dead letters: such a value is refused before the deploy, and so is a misspelt setting.`

function answers(): string {
  const rows = acknowledgements.map(
    ({ id, subject, reason }) =>
      `| \`${(id.split('[')[0] ?? id).replace('AwsSolutions-', '')}\` | ${subject} | ${reason} |`,
  )
  return [
    '## Findings of the AWS Solutions rules, and why they stay',
    '',
    '`cdk synth` runs the AWS Solutions rules of cdk-nag. A finding that isn’t answered here, by its own id at its own place, ends it with exit code 1.',
    '',
    '| rule | about | reason |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function readersOf(secret: ReasonedReach['secrets'][number]): string {
  return listed(roomNames.filter((room) => reach[room].secrets.includes(secret)))
}

/** `a`, `a and b`, `a, b and c`. */
function listed(words: readonly string[]): string {
  const [last = '', ...before] = words.toReversed()
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`
}

if (import.meta.main) writeFileSync(new URL('security.md', import.meta.url), securityPage())
