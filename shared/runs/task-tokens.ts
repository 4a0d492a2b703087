/**
 * Task tokens of an item, joined to one text. Step Functions may take a running call of a room for failed, and call again: each
 * of the two calls brings its token, in any order, and only Step Functions knows the token still waited on (IL9, IL10). Pure.
 */
import { TOKENS_KEPT } from '../base/limits.ts'

/** No token contains a space: https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html */
const SEPARATOR = ' '

/** The tokens plus a new token, newest last, without the oldest beyond TOKENS_KEPT; the same text for a known token. */
export function withToken(kept: string | undefined, token: string): string {
  const tokens = kept === undefined ? [] : tokensIn(kept)
  return tokens.includes(token) && kept !== undefined ? kept : [...tokens, token].slice(-TOKENS_KEPT).join(SEPARATOR)
}

/** All tokens, newest last. */
export function tokensIn(kept: string): string[] {
  return kept.split(SEPARATOR)
}
