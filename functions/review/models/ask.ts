/**
 * Asks a model for an answer of a given shape, at any endpoint that speaks OpenAI's chat protocol. An answer that was
 * cut, or of another shape, is a failure, never an empty answer.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, type LanguageModelUsage, NoObjectGeneratedError, Output } from 'ai'
import * as z from 'zod'
import { Refused, Retry } from '../../../shared/base/errors.ts'
import type { ModelChoice } from '../../../shared/findings/lens.ts'
import { failureOf, isSchemaUnsupported } from './failures.ts'
import { jsonIn } from './json-in.ts'

export interface Question<Answer> {
  readonly model: ModelChoice
  /** The role and task of the model; no text of the pull request. */
  readonly instructions: string
  /** The material to be read. */
  readonly prompt: string
  readonly schema: z.ZodType<Answer>
  /** Aborts the call when the answer isn't wanted any more; `ask` throws the signal's reason unchanged. */
  readonly signal: AbortSignal
}

export interface Answered<Answer> {
  readonly answer: Answer
  /** Tokens of every try. */
  readonly usage: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number }
}

/**
 * The schema goes with the request, and into the instructions as well, because an endpoint may ignore the schema in the
 * request. An endpoint that refuses the schema is asked again without; after an answer of another shape the model is
 * asked once more.
 * Each call has the model's own deadline (`timeoutMs`). Throws `Refused` (`model_refused`, `model_quota_exhausted`,
 * `model_reply_cut`, `model_reply_invalid`) or `Retry` (`model_throttled`, `model_unreachable`).
 */
export async function ask<Answer>(question: Question<Answer>): Promise<Answered<Answer>> {
  const call = callerOf(question)
  const first = await call(question.prompt, 'schema')
  assertWhole(first, question.model)
  const read = shapeOf(first.text, question.schema)
  if (read.success) return { answer: read.data, usage: usageOf(question.model, [first]) }

  const second = await call(`${question.prompt}\n\n${repeatedRequest(read.problem)}`, first.form)
  assertWhole(second, question.model)
  const readAgain = shapeOf(second.text, question.schema)
  if (readAgain.success) return { answer: readAgain.data, usage: usageOf(question.model, [first, second]) }
  throw new Refused(
    'model_reply_invalid',
    `${question.model.model} answered twice in another shape: ${readAgain.problem}`,
    'Use a model that can answer in JSON by a schema.',
  )
}

function usageOf(model: ModelChoice, replies: readonly Reply[]): Answered<unknown>['usage'] {
  const sum = (tokens: 'inputTokens' | 'outputTokens') =>
    replies.reduce((total, reply) => total + (reply.usage?.[tokens] ?? 0), 0)
  return { model: model.model, inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') }
}

/** The place of the schema: in the request and in the instructions, or only in the instructions. */
type Form = 'schema' | 'text'

interface Reply {
  readonly text: string
  readonly finishReason: string | undefined
  readonly usage: Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens'> | undefined
  readonly form: Form
}

/** An endpoint that refuses the schema gets a second call without. */
function callerOf<Answer>({ model, instructions, schema, signal }: Question<Answer>) {
  const provider = createOpenAICompatible({
    name: PROVIDER,
    baseURL: model.baseUrl,
    supportsStructuredOutputs: true,
    ...(model.apiKey === undefined ? {} : { apiKey: model.apiKey }),
  })
  const withSchema = `${instructions}\n\nAnswer with JSON only, by this schema:\n${JSON.stringify(z.toJSONSchema(schema))}`

  return async function call(prompt: string, form: Form): Promise<Reply> {
    const deadline = AbortSignal.timeout(model.timeoutMs)
    model.calls?.asked()
    try {
      const { text, finishReason, usage } = await generateText({
        model: provider(model.model),
        instructions: withSchema,
        prompt,
        maxRetries: 0,
        abortSignal: AbortSignal.any([signal, deadline]),
        ...(form === 'schema' ? { output: Output.object({ schema }) } : {}),
      })
      model.calls?.answered()
      return { text, finishReason, usage, form }
    } catch (error) {
      signal.throwIfAborted()
      if (deadline.aborted) {
        const sentence = `${model.model} at ${model.baseUrl} did not answer within ${model.timeoutMs} ms`
        throw new Retry('model_unreachable', sentence, 0, { cause: error })
      }
      // Another shape: the text may still hold the answer, with words around.
      if (NoObjectGeneratedError.isInstance(error)) {
        model.calls?.answered()
        return { text: error.text ?? '', finishReason: error.finishReason, usage: error.usage, form }
      }
      if (form === 'schema' && isSchemaUnsupported(error)) return call(prompt, 'text')
      throw failureOf(error, model)
    }
  }
}

/** The AI SDK keeps options and errors of the provider under this name. */
const PROVIDER = 'muster'

/** J2: a cut or stopped reply is no answer, even if it parses. */
function assertWhole(reply: Reply, model: ModelChoice): void {
  if (reply.finishReason === 'length') {
    throw new Refused(
      'model_reply_cut',
      `the answer of ${model.model} was cut at its token limit`,
      "Raise the endpoint's limit of output tokens, or use a model that thinks less before it answers.",
    )
  }
  if (reply.finishReason === 'content-filter') {
    throw new Refused(
      'model_refused',
      `a content filter stopped the answer of ${model.model}`,
      'Use another model for this repository, or set the lens off.',
    )
  }
}

type Shape<Answer> =
  | { readonly success: true; readonly data: Answer }
  | { readonly success: false; readonly problem: string }

function shapeOf<Answer>(text: string, schema: z.ZodType<Answer>): Shape<Answer> {
  const value = jsonIn(text)
  if (value === undefined) return { success: false, problem: 'it holds no JSON object' }
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed : { success: false, problem: z.prettifyError(parsed.error).replace(/\s+/g, ' ') }
}

function repeatedRequest(problem: string): string {
  return `Your last answer could not be used: ${problem}. Answer again, with JSON by the schema and nothing else.`
}
