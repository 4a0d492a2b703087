/** The log: one line of JSON for each entry, with only the members listed here (AW91). */
import { Logger } from '@aws-lambda-powertools/logger'
import type { ReviewName } from '../runs/review.ts'

/** Loggable members: never a body, a header, a signature, a secret, a finding's text. */
export interface LogFields {
  readonly runId?: string
  readonly attempt?: number
  readonly reviewId?: string
  readonly deliveryId?: string
  readonly event?: string
  readonly outcome?: string
  readonly code?: string
  readonly error?: string
  readonly bytes?: number
  readonly contentType?: string
  readonly base64?: boolean
  readonly signaturePresent?: boolean
  readonly secretVersion?: string
  readonly count?: number
  readonly key?: string
  readonly milliseconds?: number
}

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** The log of a room. */
export function openLog(room: string): Log {
  const logger = new Logger({ serviceName: `muster-${room}` })
  return {
    info: (message, fields) => logger.info(message, { ...fields }),
    warn: (message, fields) => logger.warn(message, { ...fields }),
    error: (message, fields) => logger.error(message, { ...fields }),
  }
}

/** The log members of a review. */
export function aboutReview({ runId, lens, part }: ReviewName): LogFields {
  return { runId, reviewId: `${lens}/${part}` }
}
