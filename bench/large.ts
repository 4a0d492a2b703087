/**
 * The command `muster review` on a large repository: wall time and peak memory of its process, which holds the whole
 * stack with the workers of all functions. The peer is the promise of 1 GiB.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Bench, Measurement, Outcome, Workspace } from './measurement.ts'
import { LARGE_FILES, LARGE_FILES_CHANGED, makeLargeRepository } from './support/large-repository.ts'
import { type ModelStandIn, startModel } from './support/model.ts'
import { PEAK_FILE_VARIABLE, type Peak } from './support/report-peak.ts'

export const large: Bench = {
  name: 'large',
  measures: '`muster review` of 200 changed files in a repository of 20,000: time, and peak memory beside 1 GiB',
  run,
}

/** Fresh processes on fresh states, for each way. */
const RUNS = 2
const LIMIT_MIB = 1_024
const BYTES_PER_MIB = 1_024 * 1_024
const MS_PER_SECOND = 1_000
/** pass, findings, incomplete: the exit codes of a finished review. */
const EXITS_REVIEWED = [0, 1, 2]
const COMMAND = path.resolve(import.meta.dirname, '../cli/main.ts')
const PRELOADED = pathToFileURL(path.join(import.meta.dirname, 'support/report-peak.ts')).href

interface Review extends Peak {
  readonly wallMs: number
  readonly verdict: string
  readonly findings: number
}

async function run(workspace: Workspace): Promise<Outcome> {
  const repository = path.join(workspace.directory, 'large.git')
  await makeLargeRepository(repository)
  const model = await startModel()
  try {
    const analyzers: Review[] = []
    const withModel: Review[] = []
    for (let index = 0; index < RUNS; index += 1) {
      analyzers.push(await review(repository, path.join(workspace.directory, `analyzers${index}`), workspace.signal))
      withModel.push(await review(repository, path.join(workspace.directory, `model${index}`), workspace.signal, model))
    }
    return {
      measurements: [
        ...rowsOf('analyzer lenses alone', analyzers),
        ...rowsOf('with a model lens and an immediate model', withModel),
      ],
      notes: [
        `${LARGE_FILES_CHANGED} of ${LARGE_FILES} files: code, new files, workflows, renames, deletions, binaries, non-ASCII paths and text.`,
        `Verdicts: ${verdictOf(analyzers)}; with the model ${verdictOf(withModel)}. Prompts answered: ${model.answered / RUNS} a review.`,
        'Memory is the peak of the resident set of the process; git’s own processes come on top during their runs.',
      ],
    }
  } finally {
    await model.close()
  }
}

/** Runs the command in a process of its own, with a state of its own. Rejects without a finished review. */
async function review(repository: string, state: string, signal: AbortSignal, model?: ModelStandIn): Promise<Review> {
  const peakFile = `${state}.peak.json`
  const startedAt = performance.now()
  const child = spawn(
    process.execPath,
    [
      ...['--import', PRELOADED, COMMAND, 'review', '--quiet', '--json'],
      ...['--repo', repository, '--base', 'HEAD^1', '--head', 'HEAD^2', '--state', state],
    ],
    {
      env: {
        PATH: process.env.PATH,
        [PEAK_FILE_VARIABLE]: peakFile,
        ...(model ? { MUSTER_MODEL: 'bench', MUSTER_MODEL_URL: model.baseUrl } : {}),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    },
  )
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const [exitCode] = (await once(child, 'close')) as [number | null]
  if (exitCode === null || !EXITS_REVIEWED.includes(exitCode)) {
    throw new Error(`muster review ended with ${exitCode}: ${complaint.trim()}`)
  }
  const { verdict, findings } = JSON.parse(output) as { verdict: string; findings: unknown[] }
  const peak = JSON.parse(await readFile(peakFile, 'utf8')) as Peak
  return { ...peak, wallMs: performance.now() - startedAt, verdict, findings: findings.length }
}

function rowsOf(group: string, reviews: readonly Review[]): Measurement[] {
  return [
    {
      group,
      what: 'peak memory',
      unit: 'MiB',
      samples: reviews.map(({ peakBytes }) => peakBytes / BYTES_PER_MIB),
      peer: { what: 'limit', samples: [LIMIT_MIB] },
    },
    { group, what: 'wall time', unit: 's', samples: reviews.map(({ wallMs }) => wallMs / MS_PER_SECOND) },
    {
      group,
      what: 'processor time',
      unit: 's',
      samples: reviews.map(({ processorMs }) => processorMs / MS_PER_SECOND),
    },
  ]
}

function verdictOf(reviews: readonly Review[]): string {
  return [...new Set(reviews.map(({ verdict, findings }) => `${verdict} with ${findings} findings`))].join(', ')
}
