/** Commands done over the real ledger, with GitHub as a test says. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Command } from '../../../functions/command/decide.ts'
import { type CommandParts, doCommand } from '../../../functions/command/do-command.ts'
import { openLog } from '../../../shared/aws/log.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { resumeRun, writeHeld } from '../../../shared/ledger/run-again.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { TURN_ASKED_MS } from '../../../shared/limits.ts'
import type { Run, RunRequest } from '../../../shared/run.ts'
import { turnOf } from '../../../shared/schedule.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf } from '../../shared/samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const ofHead = requestOf()
const ofFocus = requestOf({ cause: 'comment:5', focus: 'look at auth', askedBy: 'person' })

/** The run of that request was reviewed, with that verdict. */
async function reviewed(request: RunRequest, verdict: string): Promise<void> {
  world.now += 60_000
  const { ledger, now } = world
  const options = { deliveryId: request.cause, writer: 'w', now, signal: AbortSignal.timeout(8_000) }
  const { run } = await acceptRun(ledger, request, options)
  expect(await updateRun(ledger, run, { state: 'ended', outcome: 'reviewed', verdict }, { now })).toBeDefined()
}

/** That run has spoken last for the pull request. */
const spoken = ({ runId }: RunRequest) =>
  world.put({ ...keyOf.thread(repository.id, 42), head: ofHead.head, round: 1, liveRun: { runId }, version: 1 })

async function said(text: string): Promise<void> {
  world.now += 60_000
  const command: Command = {
    kind: 'command',
    repository,
    number: 42,
    cause: 'comment:900',
    eventAt: world.now,
    acceptedAt: world.now,
    commentId: 900,
    author: 'mia',
    text,
    payloadDigest: 'd',
  }
  const github = {
    permission: async () => 'write',
    pullRequest: async () => ({
      head: { sha: ofHead.head },
      base: { ref: 'main' },
      state: 'open',
      updatedAt: command.eventAt,
    }),
  }
  const parts = { ...world.ending, github, log: openLog('command') } as unknown as CommandParts
  expect(await doCommand(parts, command)).toBe(true)
}

async function run({ runId }: RunRequest): Promise<Run> {
  const found = await readRun(world.ledger, runId)
  if (!found) throw new Error('Expected the run to be stored, found none')
  return found
}

describe('/muster retry', () => {
  it('LE16: takes up the review that is incomplete, though another one of this head read everything before', async () => {
    await reviewed(ofHead, 'pass')
    await reviewed(ofFocus, 'incomplete')
    await spoken(ofFocus)
    await said('/muster retry')
    expect(await run(ofFocus)).toMatchObject({ attempt: 2, state: 'accepted', focus: 'look at auth' })
    expect(await run(ofHead)).toMatchObject({ attempt: 1, state: 'ended' })
  })

  it('a person waits for it: its turn comes before what was pushed with it', async () => {
    await reviewed(ofHead, 'incomplete')
    await spoken(ofHead)
    await said('/muster retry')
    expect(turnOf(await run(ofHead))).toBe(world.now - TURN_ASKED_MS)
  })
})

describe('/muster review', () => {
  it('a person waits for it: its turn comes before what was pushed with it', async () => {
    await said('/muster review')
    expect(turnOf(await run(ofHead))).toBe(world.now - TURN_ASKED_MS)
  })
})

describe('a review that nobody asked for', () => {
  it('gets no earlier turn because it was held and goes on', async () => {
    const { ledger, now } = world
    const options = { deliveryId: 'd', writer: 'w', now, signal: AbortSignal.timeout(8_000) }
    await acceptRun(ledger, ofHead, options)
    const held = await writeHeld(ledger, { ...ofHead, attempt: 1 }, { code: 'halted', sentence: 'Halted.' }, now)
    if (!held) throw new Error('Expected the run to be held')
    expect(await resumeRun(ledger, held, now + 60_000)).toMatchObject({ attempt: 2 })
    expect(turnOf(await run(ofHead))).toBe(now)
  })
})
