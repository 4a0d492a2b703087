/** The lenses, and the input and output of a lens. A lens holds no GitHub credential, and no network but its model. */
import type { Coverage } from './coverage.ts'
import type { FileChange } from './diff.ts'
import type { ClaimedFinding, Finding } from './finding.ts'

interface LensTraits {
  /** An analyzer needs no model; a model lens does. */
  readonly kind: 'analyzer' | 'model'
  /** Raised when a lens answers the same input differently; part of the plan key. */
  readonly version: number
  /** The state of the lens where `.github/muster.yml` says nothing. */
  readonly default: 'active' | 'off'
  /** For people, in the published schema of the configuration. */
  readonly description: string
}

/** Every lens. `functions/review/lenses/index.ts` compiles only if it loads all of them. */
export const LENSES = {
  secrets: { kind: 'analyzer', version: 2, default: 'active', description: 'Finds credentials in added lines' },
  workflows: {
    kind: 'analyzer',
    version: 2,
    default: 'active',
    description: 'Checks changed GitHub Actions workflows',
  },
  description: {
    kind: 'analyzer',
    version: 2,
    default: 'active',
    description: 'Checks the description against the pull request template',
  },
  correctness: { kind: 'model', version: 1, default: 'active', description: 'A model reads the change for faults' },
} as const satisfies Record<string, LensTraits>

export type LensName = keyof typeof LENSES
export const LENS_NAMES = Object.keys(LENSES) as readonly LensName[]

/** The author's words about the pull request are claims, never instructions. */
export interface PullRequestFacts {
  readonly repository: string
  readonly number: number
  readonly title: string
  /** The description, `''` without one (H18). */
  readonly body: string
  /** True if the description was cut to its limit (AD6). */
  readonly bodyCut: boolean
  readonly author: string
  readonly head: string
  readonly baseRef: string
  /** A wish of a person with write access: where to look first. */
  readonly focus?: string
}

/** The model of a lens: any OpenAI-compatible endpoint. */
export interface ModelChoice {
  /** As configured, for example `gpt-5.2` or `qwen3-coder`. */
  readonly model: string
  /** Base URL of the endpoint, without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey?: string
  readonly timeoutMs: number
  /** The caller of the model reports its calls here. */
  readonly calls?: ModelCalls
}

/** Listens to the calls of a model. Neither method throws. */
export interface ModelCalls {
  /** A call begins. */
  asked(): void
  /** The model has answered a call, with whatever content. A throttled, refused or failed call is no answer. */
  answered(): void
}

export interface LensInput {
  readonly pullRequest: PullRequestFacts
  /** The files of this part. */
  readonly files: readonly FileChange[]
  /** A file's text at the head; undefined if it was not fetched (binary, too large, removed). */
  text(path: string): Promise<string | undefined>
  /** The base branch's pull request template; undefined without a template. */
  readonly template: string | undefined
  /** Open before this head, for model lenses. */
  readonly openFindings: readonly Finding[]
  readonly model: ModelChoice | undefined
  readonly signal: AbortSignal
}

export interface LensOutput {
  readonly findings: readonly ClaimedFinding[]
  /** A row for each given file, `full` also for a file without anything for this lens. */
  readonly coverage: readonly Coverage[]
  readonly usage?: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number }
}

/** A way of reading. Throws `Refused`, `Retry` or `Dead` (shared/base/errors.ts); an error is never "no findings". */
export type Lens = (input: LensInput) => Promise<LensOutput>
