/** A batch of a FIFO queue: groups side by side, records of a group in order, and an honest report of what was not done. */

/** The members of Lambda's SQS record that are read. */
export interface QueueRecord {
  readonly messageId: string
  readonly body: string
  readonly attributes: { readonly MessageGroupId?: string }
}

export interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/**
 * Does `work` for each record. After a failure the rest of that group is reported too, so that its order holds; other
 * groups go on (AW50). Anything thrown is a failure of its record, told to `failed`: never an empty report by accident (AW46).
 */
export async function processBatch(
  records: readonly QueueRecord[],
  work: (body: string) => Promise<void>,
  failed: (error: unknown) => void,
): Promise<BatchAnswer> {
  const groups = Map.groupBy(records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId)
  const unfinished = await Promise.all([...groups.values()].map((group) => inOrder(group, work, failed)))
  return { batchItemFailures: unfinished.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
}

async function inOrder(
  group: readonly QueueRecord[],
  work: (body: string) => Promise<void>,
  failed: (error: unknown) => void,
): Promise<readonly QueueRecord[]> {
  for (const [index, record] of group.entries()) {
    try {
      await work(record.body)
    } catch (error) {
      failed(error)
      return group.slice(index)
    }
  }
  return []
}
