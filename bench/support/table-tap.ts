/** Counts the table's requests at the wire: every request of the functions, item by item, by sender. */
import diagnostics from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface TableAccess {
  /** The sending function; `''` for requests without a name, such as the bench's own. */
  readonly room: string
  readonly kind: 'write' | 'check' | 'read'
  /**
   * DynamoDB's operation; for a member of a transaction followed by the member's own: `Put`, `TransactWrite.Update`.
   */
  readonly operation: string
  /** First part of the item's sort key: `RUN`, `REVIEW`, `FLEET`, …; for a query, the searched key. */
  readonly item: string
  /** The state that a write gives the item, if any. */
  readonly state: string | undefined
  /** Members that an update sets or removes; empty for all other operations. */
  readonly members: readonly string[]
  /** False for a refused request: a condition didn't hold, or a transaction was cancelled. */
  readonly done: boolean
}

export interface TableTap {
  /** Everything since the last call, in the order of the answers. */
  taken(): TableAccess[]
  /** ms since the last answer to a function other than `except`. */
  quietMs(except: readonly string[]): number
  close(): void
}

/** Attributes in wire format: `{ "S": "…" }`. */
type Wire = Readonly<Record<string, { readonly S?: string } | undefined>>

interface Request {
  readonly TableName?: string
  readonly IndexName?: string
  readonly Key?: Wire
  readonly Item?: Wire
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Wire
  readonly TransactItems?: readonly Readonly<Record<string, Request>>[]
}

const KINDS: Readonly<Record<string, TableAccess['kind']>> = {
  Put: 'write',
  Update: 'write',
  Delete: 'write',
  ConditionCheck: 'check',
  Get: 'read',
  Query: 'read',
}

/**
 * Listens to the requests of this process's server at `url`. The tap delays and changes nothing. Throws for an unknown
 * operation.
 */
export function tapTable(url: string): TableTap {
  const { host } = new URL(url)
  let accesses: TableAccess[] = []
  const lastAnswerAt = new Map<string, number>()

  const onRequest = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (request.headers.host !== host) return
    const chunks: Buffer[] = []
    // The server begins to read in the same turn, so nothing flows before the server listens too.
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.once('finish', () => {
      const room = roomOf(request)
      lastAnswerAt.set(room, performance.now())
      const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '')
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request
      accesses.push(
        ...accessesOf(operation, body).map((access) => ({ ...access, room, done: response.statusCode === 200 })),
      )
    })
  }
  diagnostics.subscribe('http.server.request.start', onRequest)
  return {
    taken() {
      const taken = accesses
      accesses = []
      return taken
    },
    quietMs(except) {
      const times = [...lastAnswerAt].flatMap(([room, at]) => (except.includes(room) ? [] : [at]))
      return performance.now() - Math.max(0, ...times)
    },
    close: () => void diagnostics.unsubscribe('http.server.request.start', onRequest),
  }
}

/** The SDK's `app/…` in its user agent, from the function's AWS_SDK_UA_APP_ID: a room's name is one word. */
function roomOf({ headers }: IncomingMessage): string {
  const agent = `${headers['x-amz-user-agent'] ?? ''} ${headers['user-agent'] ?? ''}`
  return /\bapp\/([a-z]+)/.exec(agent)?.[1] ?? ''
}

function accessesOf(operation: string, body: Request): Omit<TableAccess, 'room' | 'done'>[] {
  if (operation === 'TransactWriteItems') {
    const members = (body.TransactItems ?? []).flatMap((member) => Object.entries(member))
    return members.map(([kind, request]) => ({ ...accessOf(kind, request), operation: `TransactWrite.${kind}` }))
  }
  return [accessOf(operation.replace(/Item$/, ''), body)]
}

function accessOf(operation: string, request: Request): Omit<TableAccess, 'room' | 'done'> {
  const kind = KINDS[operation]
  if (kind === undefined) throw new Error(`The tap can't count ${operation}. Add the operation to KINDS.`)
  const values = request.ExpressionAttributeValues ?? {}
  const members = operation === 'Update' ? membersOf(request) : []
  return {
    kind,
    operation: operation === 'Query' && request.IndexName !== undefined ? `Query of ${request.IndexName}` : operation,
    item: itemOf(request),
    state: request.Item?.state?.S ?? (members.includes('state') ? values[':state']?.S : undefined),
    members,
  }
}

/**
 * The item's kind is the first part of its sort key; a ticket's sort key begins with its turn, and a query's may be
 * absent.
 */
function itemOf({ Key, Item, ExpressionAttributeValues: values }: Request): string {
  const key = Key ?? Item
  const pk = (key?.pk ?? values?.[':pk'] ?? values?.[':duePk'])?.S ?? ''
  const sk = (key?.sk ?? values?.[':prefix'])?.S ?? ''
  if (pk.startsWith('QUEUE#')) return 'TICKET'
  return (sk || pk).split('#')[0] ?? ''
}

function membersOf({ UpdateExpression = '', ExpressionAttributeNames: names = {} }: Request): string[] {
  return [...UpdateExpression.matchAll(/#\w+/g)].map(([name]) => names[name] ?? name)
}
