/** Muster's demands on SQS, as promises that every implementation must keep, seen through the real SDK. */
import { afterAll, beforeAll, describe } from 'vitest'
import { fifoPromises } from './contract-fifo.ts'
import { messagePromises } from './contract-messages.ts'
import { queuePromises } from './contract-queues.ts'
import { createQueueKit, type SqsSubject } from './queue-kit.ts'

export function sqsContract(name: string, start: () => Promise<SqsSubject>): void {
  describe(`${name} keeps the contract of SQS`, () => {
    let subject: SqsSubject | undefined
    beforeAll(async () => {
      subject = await start()
    })
    afterAll(() => subject?.stop())

    const kit = createQueueKit(() => {
      if (!subject) throw new Error('Expected the contract to have been started, got none')
      return subject
    })
    queuePromises(kit)
    messagePromises(kit)
    fifoPromises(kit)
  })
}
