/** Check runs, comments and labels: created, changed, listed, refused as GitHub does. */
import { describe, expect, test } from 'vitest'
import { APP, AT, makeRepository, REPOSITORY, refusalOf, withPullRequest } from './support.ts'

const repository = () => makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })

function annotations(count: number, from = 0) {
  return Array.from({ length: count }, (_, index) => ({
    path: 'a.txt',
    start_line: from + index + 1,
    end_line: from + index + 1,
    annotation_level: 'warning' as const,
    message: `note ${from + index}`,
  }))
}

describe('check runs', () => {
  test('S1: 143 annotations arrive by 50s, appended in order; 51 at once are refused', async () => {
    const made = repository()
    const { github, octokit, number } = await withPullRequest(made)
    const output = (notes: ReturnType<typeof annotations>) => ({ title: 'Found', summary: 'Some', annotations: notes })
    const start = { ...AT, name: 'muster', head_sha: made.commits[1] ?? '', status: 'in_progress' as const }
    const tooMany = octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...start,
      output: output(annotations(51)),
    })
    expect(await refusalOf(tooMany)).toMatchObject({ status: 422 })
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...start,
      output: output(annotations(50)),
    })
    const patch = (notes: ReturnType<typeof annotations>) =>
      octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
        ...AT,
        check_run_id: data.id,
        output: output(notes),
      })
    await patch(annotations(50, 50))
    const last = await patch(annotations(43, 100))
    expect(last.data.output.annotations_count).toBe(143)
    const shown = github.pullRequest(REPOSITORY, number).checkRuns[0]?.runs[0]?.annotations
    expect(shown?.map((note) => note.start_line)).toEqual(Array.from({ length: 143 }, (_, index) => index + 1))
    const route = 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations'
    const page = await octokit.request(route, { ...AT, check_run_id: data.id, per_page: 100, page: 2 })
    expect(page.data).toHaveLength(43)
  })

  test('completed needs a conclusion, and a conclusion completes', async () => {
    const made = repository()
    const { octokit } = await withPullRequest(made)
    const start = { ...AT, name: 'muster', head_sha: made.commits[1] ?? '' }
    const refused = octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...start, status: 'completed' } as never)
    expect(await refusalOf(refused)).toMatchObject({ status: 422 })
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...start, external_id: 'mine' })
    expect(data).toMatchObject({ status: 'queued', conclusion: null, completed_at: null, external_id: 'mine' })
    const done = await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...AT,
      check_run_id: data.id,
      conclusion: 'neutral',
    } as never)
    expect(done.data).toMatchObject({ status: 'completed', conclusion: 'neutral', completed_at: expect.any(String) })
  })

  test('a commit lists the newest check run of each name, or all check runs', async () => {
    const made = repository()
    const { octokit } = await withPullRequest(made)
    const head = made.commits[1] ?? ''
    for (const name of ['muster', 'muster', 'other']) {
      await octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...AT, name, head_sha: head })
    }
    const list = async (query: { filter?: 'all'; app_id?: number }) =>
      (await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...AT, ref: head, ...query })).data
        .total_count
    expect(await list({})).toBe(2)
    expect(await list({ filter: 'all' })).toBe(3)
    expect(await list({ filter: 'all', app_id: APP.id })).toBe(3)
    expect(await list({ filter: 'all', app_id: 1 })).toBe(0)
  })

  test('an unknown commit gets no check run', async () => {
    const { octokit } = await withPullRequest(repository())
    const call = octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...AT,
      name: 'x',
      head_sha: '1'.repeat(40),
    })
    expect(await refusalOf(call)).toMatchObject({ status: 422 })
  })
})

describe('comments and labels', () => {
  test('a comment is created, changed in place and deleted', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...AT,
      issue_number: number,
      body: 'one',
    })
    const comment = { ...AT, comment_id: data.id }
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...comment, body: 'two' })
    expect(github.pullRequest(REPOSITORY, number).issueComments).toMatchObject([{ id: data.id, body: 'two' }])
    await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', comment)
    expect(github.pullRequest(REPOSITORY, number).issueComments).toEqual([])
    const gone = octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', comment)
    expect(await refusalOf(gone)).toMatchObject({ status: 404 })
  })

  test('PR1: labels are added and removed; an absent label is 404', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    const at = { ...AT, issue_number: number }
    const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels'
    await octokit.request(route, { ...at, labels: ['muster: checking', 'bug', 'Bug'] })
    expect(github.pullRequest(REPOSITORY, number).labels).toEqual(['muster: checking', 'bug'])
    const remove = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}'
    await octokit.request(remove, { ...at, name: 'muster: checking' })
    expect(await refusalOf(octokit.request(remove, { ...at, name: 'muster: checking' }))).toMatchObject({ status: 404 })
  })

  test('AD8: a person has the given permission, and all further people may read', async () => {
    const { github, octokit } = await withPullRequest(repository())
    github.setPermission(REPOSITORY, 'Jun', 'maintain')
    const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
    const of = async (username: string) => (await octokit.request(route, { ...AT, username })).data
    expect(await of('jun')).toMatchObject({ permission: 'write', role_name: 'maintain' })
    expect(await of('stranger')).toMatchObject({ permission: 'read' })
    expect(await of('acme')).toMatchObject({ permission: 'admin' })
  })
})
