/** Check runs of our App: read by commit and external id, created, changed. */
import type { Annotation } from '../publishing/github-payloads.ts'
import { type Caller, inRepo } from './caller.ts'
import { unreachable } from './failures.ts'
import type { CheckRunChange, GitHub, Identity } from './github.ts'
import { readList } from './pages.ts'

type CheckRuns = Pick<GitHub, 'checkRuns' | 'checkRunAnnotations' | 'createCheckRun' | 'updateCheckRun'>

export function checkRunsOf(caller: Caller, identity: () => Promise<Identity>): CheckRuns {
  return {
    async checkRuns(repo, head, externalId) {
      const us = await identity()
      const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
      // `latest` would hide the older of two check runs of ours with one name.
      const parameters = { ...inRepo(repo), ref: head, app_id: us.appId, filter: 'all' } as const
      const { rows, cut } = await readList(caller, route, parameters)
      const ours = rows
        .filter((row) => Number(row.app?.id) === us.appId)
        .filter((row) => externalId === undefined || row.external_id === externalId)
        .map((row) => ({
          id: Number(row.id),
          name: row.name,
          externalId: row.external_id ?? '',
          status: row.status,
          conclusion: row.conclusion ?? undefined,
          title: row.output.title ?? '',
          summary: row.output.summary ?? '',
          text: row.output.text ?? '',
          annotations: row.output.annotations_count,
        }))
      return { rows: ours.sort((a, b) => a.id - b.id), cut }
    },

    async checkRunAnnotations(repo, id) {
      const route = 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations'
      const { rows, cut } = await readList(caller, route, { ...inRepo(repo), check_run_id: id })
      return {
        cut,
        rows: rows.map((row) => ({
          path: row.path,
          startLine: row.start_line,
          endLine: row.end_line,
          level: row.annotation_level as Annotation['level'],
          title: row.title ?? '',
          message: row.message ?? '',
        })),
      }
    },

    async createCheckRun(repo, head, externalId, change) {
      const route = 'POST /repos/{owner}/{repo}/check-runs'
      const place = { ...inRepo(repo), head_sha: head, external_id: externalId }
      const { data } = await caller.call(route, { ...place, ...changeOf(change) })
      if (data?.id === undefined) throw unreachable({ route, writes: true }, 'its answer names no check run')
      return Number(data.id)
    },

    async updateCheckRun(repo, id, change) {
      const route = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}'
      await caller.call(route, { ...inRepo(repo), check_run_id: id, ...changeOf(change) })
    },
  }
}

function changeOf({ name, conclusion, title, summary, text, annotations }: CheckRunChange) {
  const rows = annotations.map(({ startLine, endLine, level, ...rest }) => {
    return { ...rest, start_line: startLine, end_line: endLine, annotation_level: level }
  })
  const output = { title, summary, text, annotations: rows }
  return conclusion === undefined
    ? { name, status: 'in_progress' as const, output }
    : { name, status: 'completed' as const, conclusion, output }
}
