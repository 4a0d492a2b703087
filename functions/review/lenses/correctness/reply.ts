/** The reply of the model of the lens `correctness`, and its claims. */
import * as z from 'zod'
import type { ClaimedFinding } from '../../../../shared/findings/finding.ts'

/** Kinds of faults. Part of a finding's identity: a name is never given another meaning. */
export const FAULTS = [
  'wrong-result',
  'crash',
  'data-loss',
  'security',
  'race',
  'resource-leak',
  'unhandled-error',
  'broken-contract',
  'other',
] as const

/** Every member is required: strict structured output knows no optional members. */
export const replySchema = z.object({
  findings: z.array(
    z.object({
      rule: z.enum(FAULTS).describe('The kind of fault'),
      severity: z.enum(['critical', 'high', 'medium', 'low']),
      title: z.string().describe('What is wrong: one sentence'),
      scenario: z
        .string()
        .min(1)
        .describe('The concrete way in which it fails: these inputs or this order of events, then this wrong outcome'),
      clears: z.string().describe('What would clear the finding'),
      path: z.string().describe('The file, as named in the diff'),
      quote: z.string().describe('The lines of code meant, copied exactly, without line numbers and signs'),
      side: z.enum(['new', 'old']).describe('old only if the quote is of removed lines'),
      line: z.number().nullable().describe('Number of the first quoted line, null if unsure'),
    }),
  ),
})

export type Reply = z.infer<typeof replySchema>

/** Faults that no model can argue away, chosen by code. */
const FENCED: ReadonlySet<Reply['findings'][number]['rule']> = new Set(['data-loss', 'security'])

/** The claims of a reply. Grounding computes the line from the quote. */
export function claimsOf(reply: Reply): readonly ClaimedFinding[] {
  return reply.findings.map(({ rule, severity, title, scenario, clears, path, quote, side, line }) => ({
    rule,
    severity,
    title,
    why: scenario,
    clears,
    fenced: FENCED.has(rule),
    location: {
      kind: 'quote',
      path,
      quote,
      // A model that is wrong about the side still quotes the right code.
      ...(side === 'old' ? { side: 'LEFT' as const } : {}),
      ...(line === null ? {} : { nearLine: line }),
    },
  }))
}
