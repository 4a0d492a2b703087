/** A batch of a FIFO queue: groups run side by side, the records of a group in order; every unfinished record is reported. */

/** The members read from Lambda's SQS record. */
export interface QueueRecord {
  readonly messageId: string
  readonly body: string
  readonly attributes: { readonly MessageGroupId?: string }
}

export interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/**
 * Calls `processBody` for each record. After an error the rest of the group is reported as failed too, which keeps the order;
 * further groups go on (AW50). Every error fails its record and is passed to `onError`: no failure looks like an empty report
 * (AW46).
 */
export async function processBatch(
  records: readonly QueueRecord[],
  processBody: (body: string) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<BatchAnswer> {
  const groups = Map.groupBy(records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId)
  const failed = await Promise.all([...groups.values()].map((group) => processGroup(group, processBody, onError)))
  return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
}

/** The unprocessed records of the group. */
async function processGroup(
  group: readonly QueueRecord[],
  processBody: (body: string) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<readonly QueueRecord[]> {
  for (const [index, { body }] of group.entries()) {
    try {
      await processBody(body)
    } catch (error) {
      onError(error)
      return group.slice(index)
    }
  }
  return []
}
