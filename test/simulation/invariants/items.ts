/** The ledger's items as invariants read them: by the table's own keys and members, without any of the judged code. */
import type { PlainItem } from '../services/table.ts'

export interface RepositoryItem {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly installationId: number
}

export interface RunItem {
  readonly runId: string
  readonly repository: RepositoryItem
  readonly number: number
  readonly kind: string
  readonly cause: string
  readonly head: string
  readonly attempt: number
  readonly state: 'accepted' | 'running' | 'concluded' | 'held' | 'ending' | 'ended'
  readonly outcome?: string
  readonly reason?: { readonly code: string; readonly sentence: string }
  readonly verdict?: string
  readonly conclusion?: string
  readonly plan?: string
  readonly planKey?: string
  readonly concludedPlanKey?: string
  readonly concludedWhole?: boolean
  readonly deliveries: readonly string[]
  readonly askedAgain?: unknown
  readonly version: number
}

export interface ReviewItem {
  readonly runId: string
  readonly planKey: string
  readonly lens: string
  readonly part: number
  readonly repository: RepositoryItem
  readonly attempt: number
  readonly state: 'planned' | 'waiting' | 'granted' | 'leased' | 'completed' | 'failed' | 'ended'
  readonly epoch: number
  readonly owner?: string
  readonly until?: number
  readonly losses?: number
  readonly token?: string
  readonly result?: string
  readonly reason?: { readonly code: string }
}

export interface ThreadItem {
  readonly repositoryId: number
  readonly number: number
  readonly head: string
  readonly series: number
  readonly round: number
  readonly nextSequence: number
  readonly liveRun?: { readonly runId: string; readonly attempt: number }
  readonly version: number
}

export interface EntryItem {
  readonly sk: string
  readonly kind: string
  readonly runId?: string
  readonly round?: number
  readonly series?: number
  readonly conclusion?: string
}

export interface MessageItem {
  readonly repositoryId: number
  readonly number: number
  /** A reply to a comment belongs to no run. */
  readonly runId: string
  readonly attempt: number
  readonly planKey: string
  readonly key: string
  readonly document: string
  readonly state: 'owed' | 'said' | 'withdrawing' | 'withdrawn' | 'failed'
  readonly series: number
  readonly round: number
  readonly githubId?: number
  readonly reason?: string
}

/** Beside these members stand `wanted_<kind>_<key>`, `generation_…` and `shown_…` of each resource. */
export interface ResourcesItem {
  readonly repositoryId: number
  readonly number: number
  readonly version: number
}

export interface SlotItem {
  readonly epoch: number
  readonly repository: number
  readonly pool: string
  readonly since: number
}

export interface ClosingItem {
  readonly until: number
  readonly probe?: { readonly reviewId: string; readonly epoch: number }
}

export interface LimitsItem {
  readonly configured: number
  readonly enabled: boolean
  readonly perRepository?: number
  readonly accountQuota?: number
  readonly pools?: Readonly<Record<string, { readonly configured?: number; readonly enabled?: boolean }>>
}

export interface FleetItem {
  readonly limits: LimitsItem
  readonly slots: Readonly<Record<string, SlotItem>>
  readonly closed: Readonly<Record<string, ClosingItem>>
  readonly granted: number
  readonly version: number
}

export interface TicketItem {
  readonly reviewId: string
  readonly epoch: number
  readonly repository: number
  readonly installation: number
  readonly pool: string
}

export interface HaltsItem {
  readonly scopes: Readonly<Record<string, unknown>>
}

export interface EventItem {
  readonly repository: RepositoryItem
  readonly number: number
  readonly cause: string
  readonly state: 'open' | 'done'
}

/** Every kind of item. */
export interface Items {
  readonly run: RunItem
  readonly review: ReviewItem
  readonly thread: ThreadItem
  readonly entry: EntryItem
  readonly event: EventItem
  readonly message: MessageItem
  readonly resources: ResourcesItem
  readonly fleet: FleetItem
  readonly queue: PlainItem
  readonly ticket: TicketItem
  readonly halts: HaltsItem
  readonly budget: PlainItem
}
export type ItemKind = keyof Items

export interface Key {
  readonly pk: string
  readonly sk: string
}

/** An item before and after a commit. */
export interface Change<Item> {
  readonly key: Key
  readonly before: Item | undefined
  readonly after: Item | undefined
}

/** The kind of item behind a key; throws for an unknown key. */
export function kindOf({ pk, sk }: Key): ItemKind {
  const [family] = pk.split('#', 1)
  if (family === 'QUEUE') return 'ticket'
  const [name = ''] = sk.split('#', 1)
  const kind = KINDS[`${family} ${name}`]
  if (kind === undefined) throw new Error(`The table has an item of no known kind: ${pk} ${sk}`)
  return kind
}

const KINDS: Readonly<Record<string, ItemKind>> = {
  'RUN RUN': 'run',
  'RUN REVIEW': 'review',
  'PR THREAD': 'thread',
  'PR ENTRY': 'entry',
  'PR EVENT': 'event',
  'PR MESSAGE': 'message',
  'PR SHOWN': 'resources',
  'FLEET FLEET': 'fleet',
  'FLEET WAITING': 'queue',
  'HALT HALT': 'halts',
  'BUDGET BUDGET': 'budget',
}

export const FLEET: Key = { pk: 'FLEET#main', sk: 'FLEET' }
export const HALTS: Key = { pk: 'HALT#main', sk: 'HALT' }

export function runKey(runId: string): Key {
  return { pk: `RUN#${runId}`, sk: 'RUN' }
}

export function pullPartition({ repositoryId, number }: { repositoryId: number; number: number }): string {
  return `PR#${repositoryId}#${number}`
}

/** The key of a review; slots and tickets hold the id, `run/plan key/lens/part`. */
export function reviewKey(reviewId: string): Key {
  const [runId, planKey, lens, part] = reviewId.split('/')
  return { pk: `RUN#${runId}`, sk: `REVIEW#${planKey}#${lens}#${part}` }
}

/** The sequence number in an entry's key. */
export function sequenceOf(sk: string): number {
  return Number(sk.slice('ENTRY#'.length))
}

/** True if a halt stops work on the repository. */
export function isHalted(halts: HaltsItem | undefined, repository: { id: number; installationId: number }): boolean {
  const scopes = halts?.scopes ?? {}
  return ['fleet', `installation/${repository.installationId}`, `repository/${repository.id}`].some(
    (scope) => scopes[scope] !== undefined,
  )
}

/** A reply to a comment stands among messages, but is owed by no run. */
export function isReply({ planKey }: Pick<MessageItem, 'planKey'>): boolean {
  return planKey === 'reply'
}

export function isDone(state: ReviewItem['state']): boolean {
  return state === 'completed' || state === 'failed' || state === 'ended'
}
