/** Routes of check runs: create, change, read, and list the check runs of a commit. */
import { z } from 'zod'
import { type Answer, type Call, notFound, ok, parseBody, Refusal, type Route } from '../http.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import { type Annotation, type CheckRun, commitKey, type Repository } from '../records.ts'
import { annotationJson, checkRunJson } from '../representations/check.ts'
import type { Reader } from '../store/access.ts'
import type { World } from '../world.ts'

/** "The Checks API limits the number of annotations to a maximum of 50 per API request": docs.github.com, REST, checks. */
const ANNOTATIONS_MAX = 50
/** Summary and text: "maximum of 65535 characters"; an annotation's title: "maximum size is 255 characters" (same page). */
const OUTPUT_CHARACTERS_MAX = 65_535
const ANNOTATION_TITLE_CHARACTERS_MAX = 255

const FIRST_CHECK_RUN_ID = 60_000_000_001

const AnnotationInput = z.object({
  path: z.string().min(1),
  start_line: z.int(),
  end_line: z.int(),
  start_column: z.int().nullish(),
  end_column: z.int().nullish(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  message: z.string().min(1),
  title: z.string().max(ANNOTATION_TITLE_CHARACTERS_MAX).nullish(),
  raw_details: z.string().nullish(),
})

const Changes = z.object({
  name: z.string().min(1).optional(),
  external_id: z.string().optional(),
  details_url: z.string().optional(),
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  conclusion: z
    .enum(['success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required'])
    .optional(),
  started_at: z.iso.datetime({ offset: true }).optional(),
  completed_at: z.iso.datetime({ offset: true }).optional(),
  output: z
    .object({
      title: z.string().optional(),
      summary: z.string().max(OUTPUT_CHARACTERS_MAX),
      text: z.string().max(OUTPUT_CHARACTERS_MAX).optional(),
      annotations: z.array(AnnotationInput).max(ANNOTATIONS_MAX).optional(),
    })
    .optional(),
})
type Changes = z.infer<typeof Changes>

const Creation = Changes.extend({ name: z.string().min(1), head_sha: z.string() })

export function checkRoutes(world: World): Route[] {
  const base = '/repos/:owner/:repo/check-runs'
  return [
    { method: 'POST', pattern: base, handle: (call) => create(world, call) },
    { method: 'PATCH', pattern: `${base}/:id`, handle: (call) => update(world, call) },
    { method: 'GET', pattern: `${base}/:id/annotations`, handle: (call) => annotations(world, call) },
    { method: 'GET', pattern: '/repos/:owner/:repo/commits/*ref/check-runs', handle: (call) => list(world, call) },
  ]
}

async function create(world: World, call: Call): Promise<Answer> {
  const repository = world.repositoryFor(call)
  const input = parseBody(Creation, call)
  if (input.output !== undefined && input.output.title === undefined) throw invalid('output', 'A title is required')
  const exists =
    /^[0-9a-f]{40,64}$/.test(input.head_sha) && (await (await world.gitOf(repository)).commit(input.head_sha))
  if (!exists) throw new Refusal(422, `No commit found for SHA: ${input.head_sha}`)
  const empty: Omit<CheckRun, 'id'> = {
    repositoryId: repository.id,
    name: input.name,
    headSha: input.head_sha,
    externalId: null,
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: world.now(),
    completedAt: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
  }
  const run = world.store.change((writer) => {
    const id = writer.next('checkRun', FIRST_CHECK_RUN_ID)
    const created = changed({ id, ...empty }, input, world.now())
    writer.put('checkRun', id, commitKey(repository.id, created.headSha), created)
    return created
  })
  return { status: 201, json: checkRunJson(call.url.origin, world.app, repository, run) }
}

function update(world: World, call: Call): Answer {
  const input = parseBody(Changes, call)
  return world.store.change((writer) => {
    const { repository, run } = find(world, call, writer)
    const updated = changed(run, input, world.now())
    writer.put('checkRun', run.id, commitKey(repository.id, run.headSha), updated)
    return ok(checkRunJson(call.url.origin, world.app, repository, updated))
  })
}

/** The check run after a request. New annotations are added to the old ones; every other field is replaced. */
function changed(run: CheckRun, input: Changes, nowMs: number): CheckRun {
  if (input.status === 'completed' && input.conclusion === undefined) {
    throw invalid('conclusion', 'A completed check run needs a conclusion')
  }
  // A conclusion completes the run, whatever the status of the same request: docs.github.com, REST, check runs.
  const status = input.conclusion === undefined ? (input.status ?? run.status) : 'completed'
  const completedAt = input.completed_at === undefined ? nowMs : Date.parse(input.completed_at)
  const { output } = input
  return {
    ...run,
    name: input.name ?? run.name,
    externalId: input.external_id ?? run.externalId,
    detailsUrl: input.details_url ?? run.detailsUrl,
    status,
    conclusion: status === 'completed' ? (input.conclusion ?? run.conclusion) : null,
    startedAt: input.started_at === undefined ? run.startedAt : Date.parse(input.started_at),
    completedAt: status !== 'completed' ? null : input.conclusion === undefined ? run.completedAt : completedAt,
    title: output?.title ?? run.title,
    summary: output?.summary ?? run.summary,
    text: output?.text ?? run.text,
    annotations: [...run.annotations, ...(output?.annotations ?? []).map(annotationOf)],
  }
}

function annotationOf(input: z.infer<typeof AnnotationInput>): Annotation {
  if (input.end_line < input.start_line) throw invalid('annotations', 'end_line must not come before start_line')
  const columns = input.start_column != null || input.end_column != null
  if (columns && input.start_line !== input.end_line) {
    throw invalid('annotations', 'Columns are allowed only where start_line and end_line are equal')
  }
  return {
    ...input,
    start_column: input.start_column ?? null,
    end_column: input.end_column ?? null,
    title: input.title ?? null,
    raw_details: input.raw_details ?? null,
  }
}

function annotations(world: World, call: Call): Answer {
  const { repository, run } = find(world, call, world.readerFor(call))
  const page = pageOf(call)
  const part = slice(run.annotations, page).map((annotation) =>
    annotationJson(call.url.origin, repository, run.headSha, annotation),
  )
  return ok(part, linkHeader(call, page, run.annotations.length))
}

/** Newest first; unless `filter=all`, only the newest of each name. */
async function list(world: World, call: Call): Promise<Answer> {
  const repository = world.repositoryFor(call)
  const sha = await world.commitOf(repository, call.params.ref ?? '')
  if (sha === null) throw new Refusal(422, `No commit found for SHA: ${call.params.ref}`)
  const query = call.url.searchParams
  const appId = query.get('app_id')
  const newestFirst = world.readerFor(call).list('checkRun', commitKey(repository.id, sha)).reverse()
  const runs = newestFirst
    .filter(
      (run, index) => query.get('filter') === 'all' || newestFirst.findIndex((one) => one.name === run.name) === index,
    )
    .filter(() => appId === null || appId === String(world.app.id))
  const page = pageOf(call)
  const check_runs = slice(runs, page).map((run) => checkRunJson(call.url.origin, world.app, repository, run))
  return ok({ total_count: runs.length, check_runs }, linkHeader(call, page, runs.length))
}

function find(world: World, call: Call, reader: Reader): { repository: Repository; run: CheckRun } {
  const repository = world.repositoryFor(call)
  const run = reader.get('checkRun', Number(call.params.id))
  if (run === undefined || run.repositoryId !== repository.id) throw notFound()
  return { repository, run }
}

function invalid(field: string, message: string): Refusal {
  return new Refusal(422, 'Validation Failed', [{ resource: 'CheckRun', code: 'custom', field, message }])
}
