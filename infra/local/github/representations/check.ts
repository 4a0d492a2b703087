/** Check runs and their annotations, as GitHub's API writes them. */
import type { InstalledApp } from '../authentication.ts'
import { nodeId } from '../identity.ts'
import type { Annotation, CheckRun, Repository } from '../records.ts'
import { isoOrNull } from '../time.ts'
import { appJson, type Schemas } from './account.ts'
import { encodePath, htmlUrl, repositoryUrl } from './repository.ts'

export function checkRunJson(url: string, app: InstalledApp, repository: Repository, run: CheckRun) {
  const api = `${repositoryUrl(url, repository)}/check-runs/${run.id}`
  return {
    id: run.id,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.headSha,
    name: run.name,
    external_id: run.externalId,
    url: api,
    html_url: `${htmlUrl(url, repository)}/runs/${run.id}`,
    details_url: run.detailsUrl,
    status: run.status,
    conclusion: run.conclusion,
    started_at: isoOrNull(run.startedAt),
    completed_at: isoOrNull(run.completedAt),
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${api}/annotations`,
    },
    check_suite: null,
    app: appJson(url, app),
    pull_requests: [],
  } satisfies Schemas['check-run']
}

export function annotationJson(url: string, repository: Repository, headSha: string, annotation: Annotation) {
  return {
    ...annotation,
    blob_href: `${htmlUrl(url, repository)}/blob/${headSha}/${encodePath(annotation.path)}`,
  } satisfies Schemas['check-annotation']
}
