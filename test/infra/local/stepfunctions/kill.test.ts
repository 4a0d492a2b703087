/** The process may die at any moment: every execution still ends, and no finished work is repeated. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import {
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executionArn } from '../../../../infra/local/stepfunctions/executions.ts'
import { type Line, readLines } from '../../../../infra/local/stepfunctions/journal.ts'
import type { RecordedCall } from './child.ts'
import { machineArn, sfnClient } from './machine.ts'

const kills = 12
/** Ms: room for some calls, and too short for all work in one round. */
const killWithinMs = 150
const names = ['run-a', 'run-b', 'run-c', 'run-d']
const itemsOf = (name: string): string[] => [0, 1, 2, 3, 4].map((n) => `${name}/${n}`)

let directory = ''
let callsFile = ''
let child: ChildProcess | undefined
const answered = new Set<string>()
const epochs = new Map<string, number>()

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kill-'))
  callsFile = join(directory, 'calls.jsonl')
})

afterAll(async () => {
  await kill()
  rmSync(directory, { recursive: true, force: true })
})

async function startChild(): Promise<SFNClient> {
  const file = new URL('./child.ts', import.meta.url).pathname
  const started = spawn(process.execPath, [file, directory, callsFile], { stdio: ['ignore', 'pipe', 'inherit'] })
  child = started
  const [url] = (await once(createInterface({ input: started.stdout }), 'line')) as [string]
  return sfnClient(url)
}

async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function calls(): RecordedCall[] {
  return readLines<RecordedCall>(callsFile, { repair: false })
}

/** Ids of the calls whose end is in a journal: results and errors echo their id, a submitted wait has its token. */
function doneCalls(): Set<string> {
  const done = new Set<string>()
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.parentPath.includes('executions')) continue
    const tokens = new Map<string, string>()
    for (const line of readLines<Line>(join(entry.parentPath, entry.name), { repair: false })) {
      if (line.kind === 'attempt' && line.token !== undefined) tokens.set(line.task, line.token)
      if (line.kind !== 'submitted' && line.kind !== 'outcome') continue
      const token = tokens.get(line.task)
      if (token !== undefined) done.add(`token:${token}`)
      for (const [id] of JSON.stringify(line).matchAll(/(plan|review):[\w/:-]+/g)) done.add(id)
    }
  }
  return done
}

/** Answers every open token. A killed process ends the loop. */
async function answerTokens(client: SFNClient): Promise<void> {
  for (const { token, item } of calls()) {
    if (token === undefined || answered.has(token)) continue
    const epoch = (epochs.get(item ?? '') ?? 0) + 1
    const output = JSON.stringify({ epoch })
    await client.send(new SendTaskSuccessCommand({ taskToken: token, output })).catch((error: Error) => {
      // An earlier answer was accepted, and only its acknowledgement lost.
      if (error.name !== 'TaskTimedOut') throw error
    })
    answered.add(token)
    epochs.set(item ?? '', epoch)
  }
}

async function unfinished(client: SFNClient): Promise<number> {
  const states = await Promise.all(
    names.map((name) => client.send(new DescribeExecutionCommand({ executionArn: executionArn(machineArn, name) }))),
  )
  return states.filter((execution) => execution.status === 'RUNNING').length
}

async function work(client: SFNClient): Promise<void> {
  for (const name of names) {
    const input = JSON.stringify({ items: itemsOf(name), width: 2 })
    await client.send(new StartExecutionCommand({ stateMachineArn: machineArn, name, input })).catch((error: Error) => {
      // A start whose answer was lost, of an execution that has ended by now.
      if (error.name !== 'ExecutionAlreadyExists') throw error
    })
  }
  do {
    await answerTokens(client)
    await wait(2)
  } while ((await unfinished(client)) > 0)
}

test(`kill -9 at ${kills} random moments: all executions end, done calls are not repeated, old tokens still answer`, async () => {
  for (let round = 0; round <= kills; round += 1) {
    const done = doneCalls()
    const callsBefore = calls().length
    const client = await startChild()
    const last = round === kills
    // The process dies during this work; any connection error is expected then.
    const worked = last ? work(client) : work(client).catch(() => undefined)
    await Promise.race([worked, ...(last ? [] : [wait(Math.random() * killWithinMs)])])
    if (!last) await kill()
    await worked
    const repeated = calls()
      .slice(callsBefore)
      .filter((call) => done.has(call.id))
    expect(repeated).toEqual([])
    if (!last) continue
    for (const name of names)
      expect(await reviewsOf(client, name)).toEqual(itemsOf(name).map((item) => [item, 'complete']))
  }
}, 60_000)

async function reviewsOf(client: SFNClient, name: string): Promise<unknown> {
  const command = new DescribeExecutionCommand({ executionArn: executionArn(machineArn, name) })
  const { status, output = '' } = await client.send(command)
  expect(status).toBe('SUCCEEDED')
  const { reviews } = JSON.parse(output) as { reviews: { item: string; result?: { outcome: string } }[] }
  return reviews.map((review) => [review.item, review.result?.outcome])
}
