/** What a lens is given and what it returns (DESIGN §8). It holds no GitHub credential and no network but its model. */

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

/** Every lens. `functions/review/lenses/index.ts` compiles only if it loads each of them. */
export const LENSES = {
  secrets: { kind: 'analyzer', version: 1, default: 'active', description: 'Finds credentials in added lines' },
  workflows: {
    kind: 'analyzer',
    version: 1,
    default: 'active',
    description: 'Checks changed GitHub Actions workflows',
  },
  description: {
    kind: 'analyzer',
    version: 1,
    default: 'active',
    description: 'Checks the description against the pull request template',
  },
  correctness: { kind: 'model', version: 1, default: 'active', description: 'A model reads the change for faults' },
} as const satisfies Record<string, LensTraits>

export type LensName = keyof typeof LENSES
export const LENS_NAMES = Object.keys(LENSES) as readonly LensName[]

/** What is said about the pull request: claims by its author, never instructions. */
export interface PullRequestFacts {
  readonly repository: string
  readonly number: number
  readonly title: string
  /** The description, `''` if there is none (H18). */
  readonly body: string
  /** True if the description was cut to its limit (AD6). */
  readonly bodyCut: boolean
  readonly author: string
  readonly head: string
  readonly baseRef: string
  /** What a person with write access wants looked at above all. */
  readonly focus?: string
}

/** A model that a lens may call: any OpenAI-compatible endpoint. */
export interface ModelChoice {
  /** As configured, for example `gpt-5.2` or `qwen3-coder`. */
  readonly model: string
  /** Base URL of the endpoint, without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey?: string
  readonly timeoutMs: number
  /** Told by who calls it. */
  readonly calls?: ModelCalls
}

/** Hears of the calls of a model. Neither throws. */
export interface ModelCalls {
  /** A call begins. */
  asked(): void
  /** The model has answered one, whatever its answer is worth; who is throttled, refused or got nothing doesn't say so. */
  answered(): void
}

export interface LensInput {
  readonly pullRequest: PullRequestFacts
  /** The files of this part. */
  readonly files: readonly FileChange[]
  /** A file's text at the head; undefined if it was not fetched (binary, too large, removed). */
  text(path: string): Promise<string | undefined>
  /** The base branch's pull request template; undefined if it has none. */
  readonly template: string | undefined
  /** What stood open before this head, for model lenses. */
  readonly openFindings: readonly Finding[]
  readonly model: ModelChoice | undefined
  readonly signal: AbortSignal
}

export interface LensOutput {
  readonly findings: readonly ClaimedFinding[]
  /** One row for each file given, also those that hold nothing for this lens (`full`). */
  readonly coverage: readonly Coverage[]
  readonly usage?: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number }
}

/** One way of reading. Throws `Refused`, `Retry` or `Dead` (shared/base/errors.ts); an error is never "no findings". */
export type Lens = (input: LensInput) => Promise<LensOutput>
