/** Reads a pull request and its repository. Only GitHub's own answer means absent; an error never means "nothing". */
import { FILE_BYTES_MAX, FILES_MAX, GITHUB_PAGE } from '../base/limits.ts'
import { fileChangeOf } from '../findings/diff.ts'
import { type Caller, type Data, inRepo } from './caller.ts'
import { unreachable } from './failures.ts'
import type { Blob, GitHub, PullRequest, Repo, TextAt } from './github.ts'
import { readList } from './pages.ts'

type Reading = Pick<
  GitHub,
  'pullRequest' | 'permission' | 'files' | 'mergeBase' | 'textAt' | 'blob' | 'pullRequestTemplate'
>

/** GitHub's places for a template, in GitHub's order (docs.github.com: creating a pull request template). */
const TEMPLATE_DIRECTORIES = ['.github', '', 'docs'] as const
const TEMPLATE_NAME = /^pull_request_template(\.(md|markdown|txt))?$/i

/** A file's JSON holds its bytes as base64, with each end of a 60-character line as two; other members are small. */
const BLOB_ANSWER_BYTES_MAX = Math.ceil(((FILE_BYTES_MAX * 4) / 3) * (62 / 60)) + 8_192

export function readingOf(caller: Caller): Reading {
  async function contentsOf(repo: Repo, ref: string, path: string) {
    const route = 'GET /repos/{owner}/{repo}/contents/{path}'
    return caller.callBounded(route, { ...inRepo(repo), path, ref }, [404], BLOB_ANSWER_BYTES_MAX)
  }

  async function textAt(repo: Repo, ref: string, path: string): Promise<TextAt> {
    const answer = await contentsOf(repo, ref, path)
    if (answer.state === 'expected') return { state: 'absent' }
    if (answer.state === 'too_large') return { state: 'too_large' }
    const { data } = answer
    if (Array.isArray(data) || data.type !== 'file') return { state: 'not_text' }
    // GitHub leaves the content of a file over 1 MB out, with encoding `none`: the file isn't empty.
    if (data.size > FILE_BYTES_MAX || !('content' in data) || data.encoding !== 'base64') return { state: 'too_large' }
    return decoded(Buffer.from(data.content, 'base64'))
  }

  return {
    textAt,

    async pullRequest(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
      const { data } = await caller.call(route, { ...inRepo(repo), pull_number: number })
      return pullRequestOf(data)
    },

    async permission(repo, login) {
      const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
      const answer = await caller.callExpecting(route, { ...inRepo(repo), username: login }, [404])
      if (answer.state !== 'success') return 'none'
      // GitHub answers maintain as write, triage as read.
      const { permission } = answer.data
      return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
    },

    async files(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'
      const parameters = { ...inRepo(repo), pull_number: number }
      const { rows, cut } = await readList(caller, route, parameters, { pagesMax: FILES_MAX / GITHUB_PAGE })
      // GitHub ends the list at FILES_MAX without a word, so a full list may be a cut list.
      return { rows: rows.map(fileChangeOf), cut: cut || rows.length >= FILES_MAX }
    },

    async mergeBase(repo, base, head) {
      const route = 'GET /repos/{owner}/{repo}/compare/{basehead}'
      // Only the merge base is wanted: one commit, and no files beyond the first page.
      const parameters = { ...inRepo(repo), basehead: `${base}...${head}`, per_page: 1, page: 2 }
      const { data } = await caller.call(route, parameters)
      return data.merge_base_commit.sha
    },

    async blob(repo, sha): Promise<Blob> {
      const route = 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}'
      const answer = await caller.callBounded(route, { ...inRepo(repo), file_sha: sha }, [], BLOB_ANSWER_BYTES_MAX)
      if (answer.state === 'too_large') return { state: 'too_large' }
      if (answer.state === 'expected') throw unreachable({ route, writes: false }, 'its answer is no blob')
      const { content, encoding } = answer.data
      const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8')
      return bytes.length > FILE_BYTES_MAX ? { state: 'too_large' } : { state: 'bytes', bytes }
    },

    async pullRequestTemplate(repo, ref) {
      for (const directory of TEMPLATE_DIRECTORIES) {
        const answer = await contentsOf(repo, ref, directory)
        if (answer.state !== 'success' || !Array.isArray(answer.data)) continue
        const template = answer.data.find((entry) => entry.type === 'file' && TEMPLATE_NAME.test(entry.name))
        if (template === undefined) continue
        const found = await textAt(repo, ref, template.path)
        if (found.state === 'text') return found.text
      }
      return undefined
    },
  }
}

function pullRequestOf(data: Data<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>): PullRequest {
  return {
    number: data.number,
    title: data.title,
    body: data.body ?? '',
    draft: data.draft ?? false,
    state: data.state === 'open' ? 'open' : 'closed',
    merged: data.merged,
    head: { sha: data.head.sha, ref: data.head.ref },
    base: { sha: data.base.sha, ref: data.base.ref },
    // GitHub shows a deleted account as the user `ghost`.
    author: { login: data.user?.login ?? 'ghost', type: data.user?.type ?? 'User' },
    updatedAt: Date.parse(data.updated_at),
  }
}

/** UTF-8 or nothing: bytes that change in a round trip are no text. A byte order mark stays. */
function decoded(bytes: Uint8Array): TextAt {
  try {
    return { state: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { state: 'not_text' }
    throw error
  }
}
