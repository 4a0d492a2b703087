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

A **room** is one Lambda function with a role of its own. The stack grants a role exactly what stands here; tests compare this table with
the policies that CDK synthesizes and with the calls that are left in each function's bundle (\`test/infra/reach.test.ts\`), so that a
room is allowed nothing that its code doesn't do. Each role may also write to its own log, and send traces to X-Ray.

## What each room may touch`

function sectionOf(room: RoomName): string {
  const { why } = reach[room]
  const rows = (Object.keys(why) as Access[]).map((access) => `| ${wording[access](reach[room])} | ${why[access]} |`)
  return [`### ${room}`, '', `${rooms[room].description}.`, '', '| may | why |', '| --- | --- |', ...rows].join('\n')
}

/** Each access in words; asked only for an access that the room has. */
const wording: Readonly<Record<Access, (reach: ReasonedReach) => string>> = {
  ledger: ({ ledger }) => `ledger: ${listed(ledger.map((use) => ledgerWords[use]))}`,
  finds: () => 'ledger: ask the index of what is due',
  documents: ({ documents }) => `documents: ${listed(documents.map((use) => (use === 'reads' ? 'read' : 'write')))}`,
  sends: ({ sends }) => `send a nudge to ${listed(sends.map((queue) => `the ${queue} queue`))}`,
  receives: ({ receives }) => `be invoked by the ${receives} queue`,
  executions: ({ executions }) => `executions: ${listed(executions.map((use) => executionWords[use]))}`,
  answers: () => 'answer task tokens of executions',
  secrets: (of) => `read ${listed(of.secrets.map((name) => `the secret \`${name}\``))}`,
  github: () => 'talk to GitHub, as the App',
  choosesModel: () => 'know which model is configured',
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

Both are created empty and filled in by a person ([deploy.md](deploy.md)); no secret is in the template, in an environment variable or in an
output: those hold ARNs. A function keeps a secret in memory for five minutes and never writes it anywhere. A new webhook secret is put before
the old one, and the old one taken out after GitHub has the new one: no delivery is refused meanwhile.

The private key and the webhook secrets are one secret, so that the webhook room, which needs only the latter, could read the former.`
}

const atRest = `## Data at rest

| where | what | encrypted with | kept |
| --- | --- | --- | --- |
| ledger (DynamoDB) | identifiers, states, counts; texts of findings only as digests of documents | the account's key for DynamoDB (KMS) | runs and events 90 days after their end; threads until you delete them; point-in-time recovery for 35 days |
| documents (S3) | plans, **the text of changed files**, results, conclusions, what is posted | SSE-S3 | until you delete them |
| queues (SQS) | nudges: a repository's id, a number, a run's id | SSE-SQS | 4 days; dead letters 14 days |
| execution history (Step Functions) | identifiers and small numbers | AWS's own key | 90 days |
| logs (CloudWatch) | a closed list of members: ids, codes, counts, times | AWS's own key | 30 days (\`muster:logRetentionDays\`) |

Ledger, documents and secrets outlive the stack, and the ledger is protected from deletion. The bucket is private, and it and the queues refuse what
doesn't come over TLS. A secret that is found in a diff is cut down to a prefix by which people recognise it before it becomes a
finding, a log line or a prompt; the file that it stands in is among the documents as it is.`

function leaving(): string {
  const talkers = listed(roomNames.filter((room) => reach[room].github))
  return `## What leaves the account

- **To GitHub**, from ${talkers}: what they ask for, and what Muster says there. Only to the host in \`muster:githubApiUrl\`.
- **To the model's endpoint**, from ${readersOf('models')}: the title and description of a pull request, parts of its diff, and the quotes of open findings, with recognised
  secrets taken out. Only to \`muster:modelBaseUrl\`; without it, nothing, and the model lenses are named as not read.
- Nothing else. There is no telemetry, and CDK's own is off in \`cdk.json\`. An alarm that is mailed (\`muster:alarmEmail\`) holds its name and its number.

The functions are in no VPC: no network rule stops them from reaching the internet. What stops them is that each has only the
credentials above. An organisation that wants a network boundary too puts them into a VPC with an egress proxy.`
}

const threats = `## Threats

**A forged webhook.** The webhook's route is open to everybody, as GitHub needs. A delivery counts only if \`X-Hub-Signature-256\` is the HMAC of its exact
bytes under one of the webhook secrets, compared in constant time, before anything is written. A wrong one is answered 401; neither it nor the expected one is
logged. A delivery that is sent again changes nothing: its run is known by its cause.

**A flood.** The gateway takes 100 requests a second (\`muster:webhookRequestsPerSecond\`) and bodies that Lambda can hold; each queue invokes at most 10
functions. GitHub doesn't send again what is refused: raise the rate before you need it. \`muster:reservedConcurrency.<room>\` keeps Muster's functions
and others in the account from starving each other.

**A hostile pull request.** Nothing of it is executed: no checkout, no build, no hooks. Analyzers only parse text; they run in the process of the room review, and are
handed neither its model key nor a network. Configuration, templates and instructions are read from the *base* branch, so that a pull request is not reviewed by its own rules.

**Words to the model.** A pull request's text is a claim, not an instruction: it is passed as data, stripped of hidden characters and HTML comments, and text that
speaks to a reviewer is itself reported. A model gets no tool, no credential and no network. What it answers is data of a fixed shape: a finding whose
quote isn't in the diff is thrown away and counted. So the worst that such words can do is a finding more or less, in a review that is
one voice among people. Don't let Muster's verdict be the only thing between a stranger's code and production.

**Words to the reader.** What models and authors write is posted as text: mark-up that would mention people, draw, link or look like Muster's own headings and
markers is made harmless.

**A stolen role.** The room ${listed(roomNames.filter((room) => reach[room].secrets.includes('models')))} reads the most hostile input, and holds no GitHub credential. Rooms that talk to GitHub (${listed(roomNames.filter((room) => reach[room].github))}) get no model's raw answer.
No role may scan the ledger, delete a document, change a policy or pass a role. The ledger is one table: a role that may change items may
change those of every repository.

**An operator's mistake.** A fixed name could make a kept table block a deploy: there are none. Concurrency below what a queue invokes
would send messages unread to the dead letters: it is refused before the deploy, and so is a setting with a slip in its name.`

function answers(): string {
  const rows = acknowledgements.map(
    ({ id, subject, reason }) =>
      `| \`${(id.split('[')[0] ?? id).replace('AwsSolutions-', '')}\` | ${subject} | ${reason} |`,
  )
  return [
    '## What the AWS Solutions rules say, and why it stays',
    '',
    '`cdk synth` runs cdk-nag’s AWS Solutions rules and exits 1 on any finding that is not answered for here, by its own id at its own place.',
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
