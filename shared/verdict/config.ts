/** `.github/muster.yml`, read from the base branch: shape, defaults and validation. */
import * as z from 'zod'
import { MODEL_NAME_CHARS_MAX, ROUNDS_CEILING_DEFAULT, ROUNDS_CEILING_MAX } from '../base/limits.ts'
import { LENS_NAMES, LENSES, type LensName } from '../findings/lens.ts'
import type { Configuration, ConfigurationProblem } from './configuration.ts'

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** Empty for a valid file, and without a file. */
  readonly problems: readonly ConfigurationProblem[]
}

/**
 * Validates the parsed content of the file; the caller parses the YAML. Undefined and null (no file, an empty file)
 * mean the defaults. A single problem makes the defaults apply as a whole: nobody wrote half a configuration. Never
 * throws.
 */
export function configurationFrom(value: unknown): ReadConfiguration {
  const parsed = schema.safeParse(value ?? {})
  if (!parsed.success) {
    return { configuration: DEFAULT_CONFIGURATION, problems: parsed.error.issues.flatMap(problemsOf) }
  }
  return { configuration: parsed.data, problems: [] }
}

/** The defaults with a single problem: the file is no YAML. `sentence` comes from the parser. */
export function unreadableConfiguration(sentence: string): ReadConfiguration {
  return {
    configuration: DEFAULT_CONFIGURATION,
    problems: [{ code: 'configuration_unreadable', at: '', message: `The file can't be read: ${sentence}` }],
  }
}

/** The published description of the file, for editors and for people (docs/muster.schema.json). */
export function configurationJsonSchema(): object {
  return {
    ...z.toJSONSchema(schema, { io: 'input' }),
    title: 'Muster configuration',
    description: '.github/muster.yml, read from the base branch of a pull request',
  }
}

const stateOf = (lens: LensName) =>
  z.enum(['active', 'off']).default(LENSES[lens].default).describe(LENSES[lens].description)

const schema = z.strictObject({
  lenses: z
    .strictObject(
      Object.fromEntries(LENS_NAMES.map((lens) => [lens, stateOf(lens)])) as Record<
        LensName,
        ReturnType<typeof stateOf>
      >,
    )
    .prefault({})
    .describe('Which lenses read a pull request'),
  models: z
    .strictObject({
      default: z
        .string()
        .min(1)
        .max(MODEL_NAME_CHARS_MAX)
        .exactOptional()
        .describe("The model of model lenses; without it the deployment's default"),
    })
    .prefault({})
    .describe('Models by use'),
  rounds: z
    .strictObject({
      ceiling: z
        .int()
        .min(0)
        .max(ROUNDS_CEILING_MAX)
        .default(ROUNDS_CEILING_DEFAULT)
        .describe('Rounds of review before a person is asked; 0 is none'),
    })
    .prefault({})
    .describe('How often a pull request is reviewed'),
})

/** The defaults, also for a file with a problem. */
export const DEFAULT_CONFIGURATION: Configuration = schema.parse({})

/** The keys allowed at a path of the file. */
const KNOWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(schema.shape),
  lenses: LENS_NAMES,
  models: ['default'],
  rounds: ['ceiling'],
}

/** The values allowed at a path, in words. */
const ALLOWED: Readonly<Record<string, string>> = {
  '': 'a mapping of lenses, models and rounds',
  lenses: 'a mapping of a lens to active or off',
  models: 'a mapping with the key default',
  rounds: 'a mapping with the key ceiling',
  'models.default': `the name of a model, 1 to ${MODEL_NAME_CHARS_MAX} characters`,
  'rounds.ceiling': `a whole number from 0 to ${ROUNDS_CEILING_MAX}`,
  ...Object.fromEntries(LENS_NAMES.map((lens) => [`lenses.${lens}`, 'active or off, as text'])),
}

function problemsOf(issue: z.core.$ZodIssue): readonly ConfigurationProblem[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') {
    const where = path === '' ? 'The file' : `\`${path}\``
    return [{ code: 'configuration_invalid', at: path, message: `${where} must be ${ALLOWED[path] ?? issue.message}.` }]
  }
  const known = KNOWN_KEYS[path] ?? []
  return issue.keys.map((key) => {
    const at = path === '' ? key : `${path}.${key}`
    const nearest = nearestOf(key, known)
    const hint = nearest === undefined ? `Known keys here: ${known.join(', ')}.` : `Did you mean \`${nearest}\`?`
    return { code: 'configuration_invalid', at, message: `\`${at}\` is not a known key. ${hint}` }
  })
}

/** The known key with the fewest edits, if at least half of its letters agree. */
function nearestOf(key: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: editsBetween(key.toLowerCase(), candidate) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best !== undefined && best.edits * 2 <= best.candidate.length ? best.candidate : undefined
}

/** Levenshtein's distance. A key that is far longer than every known key is near to none, so it isn't measured. */
function editsBetween(from: string, to: string): number {
  if (from.length > to.length * 2) return from.length
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
