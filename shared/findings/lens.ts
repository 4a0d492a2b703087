/** What a lens is given and what it returns (DESIGN §8). It holds no GitHub credential and no network but its model. */

import * as z from 'zod'
import { openWord, type Stored } from '../base/schema.ts'
import type { Coverage } from './coverage.ts'
import type { FileChange } from './diff.ts'
import type { ClaimedFinding, Finding } from './finding.ts'

/** The names of the lenses that exist. */
export const LENS_NAMES = ['secrets', 'workflows', 'description', 'correctness'] as const
export type LensName = (typeof LENS_NAMES)[number]
export const lensNameSchema = openWord<LensName>()

/** An analyzer needs no model; a model lens does. */
export const LENS_KINDS: Readonly<Record<LensName, 'analyzer' | 'model'>> = {
  secrets: 'analyzer',
  workflows: 'analyzer',
  description: 'analyzer',
  correctness: 'model',
}

/** Raised when what a lens says for the same input changes; part of the plan key. */
export const LENS_VERSIONS: Readonly<Record<LensName, number>> = {
  secrets: 1,
  workflows: 1,
  description: 1,
  correctness: 1,
}

/** What is said about the pull request: claims by its author, never instructions. */
export const pullRequestFactsSchema = z.object({
  repository: z.string(),
  number: z.number(),
  title: z.string(),
  /** The description, `''` if there is none (H18). */
  body: z.string(),
  /** True if the description was cut to its limit (AD6). */
  bodyCut: z.boolean(),
  author: z.string(),
  head: z.string(),
  baseRef: z.string(),
  /** What a person with write access wants looked at above all. */
  focus: z.string().exactOptional(),
})
export type PullRequestFacts = Stored<typeof pullRequestFactsSchema>

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

/** What a model's reading used. */
export const usageSchema = z.object({ model: z.string(), inputTokens: z.number(), outputTokens: z.number() })
export type Usage = Stored<typeof usageSchema>

export interface LensOutput {
  readonly findings: readonly ClaimedFinding[]
  /** One row for each file given, also those that hold nothing for this lens (`full`). */
  readonly coverage: readonly Coverage[]
  readonly usage?: Usage
}

/** One way of reading. Throws `Refused`, `Retry` or `Dead` (shared/base/errors.ts); an error is never "no findings". */
export type Lens = (input: LensInput) => Promise<LensOutput>
