/** Random requests, sensible and senseless, to a table of the ledger's shape. Most kinds of expressions occur. */
import fc from 'fast-check'

export interface TableRequest {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The same requests, addressed to the given partition and table. */
export function placed(requests: readonly TableRequest[], tableName: string, partition: string): TableRequest[] {
  const text = JSON.stringify(requests).replaceAll(PARTITION, partition).replaceAll(TABLE, tableName)
  return JSON.parse(text) as TableRequest[]
}

const PARTITION = '<partition>'
const TABLE = '<table>'
const TableName = TABLE

/** Few values, so that comparisons often find equal values. */
const number = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom('1', '2', '1.50') },
    { weight: 1, arbitrary: fc.constantFrom('0', '10', '-3', '0.25', '1e2', '12345678901234567890') },
  )
  .map((N) => ({ N }))
const text = fc.constantFrom('a', 'b', 'ab', 'ä', '😀').map((S) => ({ S }))
const set = fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((SS) => ({ SS }))
const scalar = fc.oneof(
  number,
  text,
  fc.boolean().map((BOOL) => ({ BOOL })),
)
const list = fc.array(scalar, { maxLength: 3 }).map((L) => ({ L }))
const map = fc.record({ x: number, y: scalar }, { requiredKeys: [] }).map((M) => ({ M }))

const attributes = fc.record(
  {
    version: number,
    text,
    tags: set,
    list,
    map,
    dueShard: fc.constant({ S: PARTITION }),
    dueAt: fc.oneof({ weight: 9, arbitrary: number }, { weight: 1, arbitrary: text }),
  },
  { requiredKeys: [] },
)
const sortKey = fc.constantFrom('A', 'B', 'C', 'AB').map((S) => ({ S }))
const key = sortKey.map((sk) => ({ pk: { S: PARTITION }, sk }))

const path = fc.constantFrom(
  '#version',
  '#text',
  'tags',
  '#list',
  '#map',
  '#map.#x',
  '#map.y',
  '#list[0]',
  'dueAt',
  'sk',
)
/** A literal in an expression; the finished request replaces the literal by an alias. */
const literal = (value: fc.Arbitrary<object>) => value.map((each) => `«${JSON.stringify(each)}»`)

const comparison = fc.oneof(
  fc
    .tuple(path, fc.constantFrom('=', '<>', '<', '<=', '>', '>='), literal(fc.oneof(number, text)))
    .map((parts) => parts.join(' ')),
  fc.tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), path).map(([name, of]) => `${name}(${of})`),
  fc.tuple(path, literal(text)).map(([of, prefix]) => `begins_with(${of}, ${prefix})`),
  fc.tuple(path, literal(scalar)).map(([of, part]) => `contains(${of}, ${part})`),
  fc.tuple(path, literal(number), literal(number)).map(([of, low, high]) => `${of} BETWEEN ${low} AND ${high}`),
  fc.tuple(path, literal(scalar), literal(text)).map(([of, one, two]) => `${of} IN (${one}, ${two})`),
  fc.tuple(path, literal(number)).map(([of, than]) => `size(${of}) > ${than}`),
  fc.tuple(path, fc.constantFrom('«{"S":"N"}»', '«{"S":"L"}»')).map(([of, type]) => `attribute_type(${of}, ${type})`),
)
const condition = fc.oneof(
  { weight: 4, arbitrary: comparison },
  { weight: 1, arbitrary: comparison.map((one) => `NOT ${one}`) },
  { weight: 2, arbitrary: fc.tuple(comparison, fc.constantFrom('AND', 'OR'), comparison).map((all) => all.join(' ')) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(comparison, comparison, comparison)
      .map(([one, two, three]) => `(${one} OR ${two}) AND NOT (${three})`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('attribute_exists(', 'owner = «{"N":"1"}»', '((sk = «{"S":"A"}»))', 'exists(sk)'),
  },
)

const target = fc.constantFrom(
  '#version',
  '#text',
  '#list',
  '#map',
  '#map.#x',
  '#map.y',
  '#list[0]',
  '#list[7]',
  'dueAt',
)
/** A source never contains its target: the embedded table would put a list into itself. */
const source = fc.constantFrom('#version', '#text', '#map.y', '#list[0]', 'dueAt')
const setValue = fc.oneof(
  literal(fc.oneof(scalar, list, map)),
  fc.tuple(target, literal(number)).map(([of, zero]) => `if_not_exists(${of}, ${zero}) + ${zero}`),
  fc.tuple(target, literal(number)).map(([of, less]) => `${of} - ${less}`),
  fc.tuple(literal(list), fc.constant('#list')).map(([more, of]) => `list_append(${of}, ${more})`),
  source,
)
const update = fc
  .record({
    SET: fc.array(
      fc.tuple(target, setValue).map(([of, value]) => `${of} = ${value}`),
      { maxLength: 3 },
    ),
    REMOVE: fc.array(fc.constantFrom('#version', '#text', '#map.#x', '#list[0]', 'dueAt', 'tags'), { maxLength: 2 }),
    ADD: fc.array(
      fc.oneof(
        literal(number).map((n) => `#version ${n}`),
        literal(set).map((s) => `tags ${s}`),
      ),
      { maxLength: 1 },
    ),
    DELETE: fc.array(
      literal(set).map((s) => `tags ${s}`),
      { maxLength: 1 },
    ),
  })
  .map((sections) =>
    Object.entries(sections)
      .filter(([, actions]) => actions.length > 0)
      .map(([section, actions]) => `${section} ${actions.join(', ')}`)
      .join(' '),
  )

const refused = fc.constantFrom({}, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })
const conditional = fc.oneof(
  fc.constant({}),
  condition.map((ConditionExpression) => ({ ConditionExpression })),
)
const returned = (...words: string[]) => fc.constantFrom(...words).map((ReturnValues) => ({ ReturnValues }))

const putInput = fc
  .tuple(key, attributes, conditional, refused)
  .map(([Key, more, ...rest]) => withAliases({ TableName, Item: { ...more, ...Key } }, rest))
const deleteInput = fc.tuple(key, conditional, refused).map(([Key, ...rest]) => withAliases({ TableName, Key }, rest))
const updateInput = fc
  .tuple(key, update, conditional, refused)
  .filter(([, UpdateExpression]) => UpdateExpression !== '')
  .map(([Key, UpdateExpression, ...rest]) => withAliases({ TableName, Key }, [{ UpdateExpression }, ...rest]))
const checkInput = fc
  .tuple(key, condition, refused)
  .map(([Key, ConditionExpression, more]) => withAliases({ TableName, Key }, [{ ConditionExpression }, more]))

const single = (
  operation: string,
  input: fc.Arbitrary<object>,
  more: fc.Arbitrary<object>,
): fc.Arbitrary<TableRequest> =>
  fc.tuple(input, more).map(([one, other]) => ({ operation, input: { ...one, ...other } }))

const transaction = fc
  .array(
    fc.oneof(
      putInput.map((Put) => ({ Put })),
      updateInput.map((Update) => ({ Update })),
      deleteInput.map((Delete) => ({ Delete })),
      checkInput.map((ConditionCheck) => ({ ConditionCheck })),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((TransactItems): TableRequest => ({ operation: 'TransactWriteItems', input: { TransactItems } }))

const paging = fc.record(
  { Limit: fc.integer({ min: 1, max: 3 }), ScanIndexForward: fc.boolean() },
  { requiredKeys: [] },
)
const query = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('', ' AND sk <> «{"S":"A"}»', ' AND sk = «{"N":"1"}»'),
      fc
        .tuple(fc.constantFrom('=', '<', '<=', '>', '>='), literal(sortKey))
        .map(([sign, than]) => ` AND sk ${sign} ${than}`),
      fc.constantFrom(' AND begins_with(sk, «{"S":"A"}»)', ' AND sk BETWEEN «{"S":"AB"}» AND «{"S":"B"}»'),
    ),
    fc.oneof(
      fc.constant({}),
      condition.map((FilterExpression) => ({ FilterExpression })),
    ),
    fc.constantFrom({}, { ProjectionExpression: 'sk, #map.#x, #list[0]' }),
    paging,
  )
  .map(([range, ...rest]): TableRequest => {
    const KeyConditionExpression = `pk = «{"S":"${PARTITION}"}»${range}`
    return { operation: 'Query', input: withAliases({ TableName }, [{ KeyConditionExpression }, ...rest]) }
  })
const dueQuery = fc.tuple(fc.constantFrom('<', '<=', '>', '>='), literal(number)).map(([sign, than]): TableRequest => {
  const KeyConditionExpression = `dueShard = «{"S":"${PARTITION}"}» AND dueAt ${sign} ${than}`
  return { operation: 'Query', input: withAliases({ TableName, IndexName: 'due' }, [{ KeyConditionExpression }]) }
})

const request: fc.Arbitrary<TableRequest> = fc.oneof(
  { weight: 5, arbitrary: single('PutItem', putInput, returned('NONE', 'ALL_OLD')) },
  {
    weight: 8,
    arbitrary: single('UpdateItem', updateInput, returned('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW')),
  },
  { weight: 1, arbitrary: single('DeleteItem', deleteInput, returned('NONE', 'ALL_OLD')) },
  {
    weight: 3,
    arbitrary: single(
      'GetItem',
      key.map((Key) => ({ TableName, Key })),
      fc.constant({ ConsistentRead: true }),
    ),
  },
  { weight: 3, arbitrary: transaction },
  { weight: 3, arbitrary: query },
  { weight: 2, arbitrary: dueQuery },
)

/** Requests about one partition, which gets its name later. */
export const requests: fc.Arbitrary<readonly TableRequest[]> = fc.array(request, {
  minLength: 4,
  maxLength: 12,
  size: 'max',
})

/** Gives every literal of the expressions an alias, and defines the used names. */
function withAliases(input: object, parts: readonly object[]): Readonly<Record<string, unknown>> {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const whole = Object.fromEntries(
    Object.entries(Object.assign({}, ...parts) as Record<string, unknown>).map(([member, part]) => {
      if (!member.endsWith('Expression')) return [member, part]
      const expression = String(part).replaceAll(/«(.*?)»/g, (_, json: string) => {
        const alias = `:v${Object.keys(values).length}`
        values[alias] = JSON.parse(json)
        return alias
      })
      for (const [alias] of expression.matchAll(/#\w+/g)) names[alias] = alias.slice(1)
      return [member, expression]
    }),
  )
  return {
    ...input,
    ...whole,
    ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
    ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
  }
}
