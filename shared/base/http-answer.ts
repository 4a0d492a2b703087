/** What whoever calls us over HTTP is answered: JSON, and a refusal with its code, its sentence and its remedy (DESIGN §11). Pure. */
import type { Refused } from './errors.ts'

/** As API Gateway takes it from a Lambda: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
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

/** The body of a refusal. A failure's message begins with its code, which is said once here. */
export function refusalBody({ code, message, remedy }: Pick<Refused, 'code' | 'message' | 'remedy'>): object {
  const sentence = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
  return { error: { code, message: sentence, remedy } }
}
