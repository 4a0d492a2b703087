/** What a deployment decides, from the CDK context (`cdk.json`, or `-c muster:<name>=<value>`). */
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Node } from 'constructs'

export interface Settings {
  /** Where GitHub's API is: another one for GitHub Enterprise Server. */
  readonly githubApiUrl: string
  /** Default model of the model lenses; absent: none is configured. */
  readonly modelDefault: string | undefined
  /** Endpoint of the default model; absent: none is configured. */
  readonly modelBaseUrl: string | undefined
  /** Lease of a review, s; all other timings follow from it. Absent: the functions' own default. */
  readonly leaseSeconds: number | undefined
  readonly logRetention: RetentionDays
  /** Gives queues a name of their own, which an emulated AWS needs. Never on a real one: a fixed name blocks replacement. */
  readonly physicalNames: boolean
}

const githubApiUrlDefault = 'https://api.github.com'

/** Reads and checks the context; every wrong value is named at once in one error. */
export function settingsFromContext(node: Node): Settings {
  const problems: string[] = []
  const text = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(`muster:${name}`)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    problems.push(`muster:${name} must be a string`)
    return undefined
  }
  const url = (name: string): string | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '')
    problems.push(`muster:${name} must be an http or https URL, got ${JSON.stringify(value)}`)
    return undefined
  }
  const settings: Settings = {
    githubApiUrl: url('githubApiUrl') ?? githubApiUrlDefault,
    modelDefault: text('modelDefault'),
    modelBaseUrl: url('modelBaseUrl'),
    leaseSeconds: leaseSeconds(node.tryGetContext('muster:leaseSeconds'), problems),
    logRetention: logRetention(node.tryGetContext('muster:logRetentionDays'), problems),
    physicalNames: flag(node.tryGetContext('muster:physicalNames'), problems),
  }
  if (problems.length > 0)
    throw new Error(`Wrong CDK context: ${problems.join('; ')}. Correct it in cdk.json or after -c.`)
  return settings
}

/** A minute is the sweeper's rhythm: a shorter lease would be missed for longer than it holds. */
const leaseSecondsMin = 60

function leaseSeconds(value: unknown, problems: string[]): number | undefined {
  if (value === undefined || value === '') return undefined
  const seconds = Number(value)
  if (Number.isInteger(seconds) && seconds >= leaseSecondsMin) return seconds
  problems.push(
    `muster:leaseSeconds must be a whole number of at least ${leaseSecondsMin}, got ${JSON.stringify(value)}`,
  )
  return undefined
}

/** `-c` hands every value over as text. */
function logRetention(value: unknown, problems: string[]): RetentionDays {
  if (value === undefined) return RetentionDays.ONE_MONTH
  const days = Number(value)
  if (RetentionDays[days] !== undefined) return days
  const allowed = Object.values(RetentionDays).filter((each) => typeof each === 'number')
  problems.push(`muster:logRetentionDays must be one of ${allowed.join(', ')}, got ${JSON.stringify(value)}`)
  return RetentionDays.ONE_MONTH
}

function flag(value: unknown, problems: string[]): boolean {
  if (value === undefined || value === false || value === 'false') return false
  if (value === true || value === 'true') return true
  problems.push(`muster:physicalNames must be true or false, got ${JSON.stringify(value)}`)
  return false
}
