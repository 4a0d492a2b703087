/** Answers over HTTP: JSON, and for a refusal its code, sentence and remedy. Pure. */
import type { Refused } from './errors.ts'

/** As API Gateway takes it: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
export interface HttpAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function answer(
  statusCode: number,
  content: object,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(content) }
}

/** A failure's message begins with its code; the body has the code once. */
export function refusalBody({ code, message, remedy }: Pick<Refused, 'code' | 'message' | 'remedy'>): object {
  const sentence = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
  return { error: { code, message: sentence, remedy } }
}
