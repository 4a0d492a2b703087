/**
 * Task tokens that an item keeps, in one text. Step Functions may take a call of a room for failed that goes on, and call
 * again: then two calls each bring their token, in any order, and only it knows on which of them it waits (IL9, IL10). Pure.
 */
import { TOKENS_KEPT } from '../base/limits.ts'

/** No token has one: https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html */
const SEPARATOR = ' '

/** The tokens with one more, newest last; the oldest goes where there are too many. The same text if it is among them. */
export function withToken(kept: string | undefined, token: string): string {
  const tokens = kept === undefined ? [] : tokensIn(kept)
  return tokens.includes(token) && kept !== undefined ? kept : [...tokens, token].slice(-TOKENS_KEPT).join(SEPARATOR)
}

/** Every token that may be waited for, newest last. */
export function tokensIn(kept: string): string[] {
  return kept.split(SEPARATOR)
}
