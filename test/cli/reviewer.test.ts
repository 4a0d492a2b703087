/** The meaning of calls for the same refs, on a whole stack: a push, a series, the same head again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChange } from '../../cli/git.ts'
import type { Progress, Reviewer, ReviewRequest } from '../../cli/request.ts'
import { reviewerOn } from '../../cli/reviewer.ts'
import { cacheDirectory } from '../../cli/settings.ts'
import { type LocalStack, startLocalStack } from '../../infra/local/stack.ts'
import { digestOfFolder, type LocalRepository, makeRepository } from './repositories.ts'

/** A stack on a machine busy with other tests, ms. */
const TIMEOUT_MS = 150_000

const folder = mkdtempSync(path.join(tmpdir(), 'muster-reviewer-'))
let stack: LocalStack
let reviewer: Reviewer

beforeAll(async () => {
  stack = await startLocalStack({ directory: path.join(folder, 'state'), cacheDirectory })
  const { apiUrl, github } = stack
  if (!github) throw new Error('The stack has no stand-in.')
  reviewer = reviewerOn({ apiUrl, github }, undefined)
}, TIMEOUT_MS)

afterAll(async () => {
  await stack?.close()
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

/** A workflow that names a missing job; `fixed`: an existing job. */
const workflow = (isFixed: boolean) =>
  `on: push\njobs:\n  build:\n${isFixed ? '' : '    needs: nope\n'}    runs-on: ubuntu-latest\n    steps:\n      - run: make\n`

/**
 * A repository whose branch `topic` adds a broken workflow; models are off, because a review can be complete only
 * without them.
 */
function repositoryNamed(name: string): LocalRepository {
  const repository = makeRepository(path.join(folder, name))
  repository.commit('Base', { '.github/muster.yml': 'lenses:\n  correctness: off\n' })
  repository.git('checkout', '--quiet', '-b', 'topic')
  repository.commit('Add a workflow\n\nIt builds.', { '.github/workflows/build.yml': workflow(false) })
  return repository
}

async function review(repository: LocalRepository, more: Partial<ReviewRequest> = {}) {
  const {
    gitDirectory,
    repository: name,
    base,
    head,
    subject,
    body,
    author,
  } = await readChange(repository.directory, 'main', 'topic')
  const request = { gitDirectory, repository: name, base, head, title: subject, body, author }
  const heard: Progress[] = []
  const outcome = await reviewer(
    { ...request, thread: false, askAgain: false, ...more },
    (progress) => heard.push(progress),
    AbortSignal.timeout(TIMEOUT_MS),
  )
  const [brought] = heard
  return { ...outcome, change: brought?.kind === 'pull_request' ? brought.change : undefined, heard }
}

/** Everything on the pull request, and its cost. */
function shown({ url }: { readonly url: string }) {
  const [owner = '', name = '', , number = ''] = new URL(url).pathname.slice(1).split('/')
  const pull = stack.github?.pullRequest(`${owner}/${name}`, Number(number))
  if (!pull) throw new Error(`${url} is no pull request of this stack.`)
  const deliveries = stack.github?.deliveries().filter((each) => each.repository === `${owner}/${name}`) ?? []
  return { pull, actions: deliveries.map(({ action }) => action) }
}

describe('calls for the same refs', () => {
  test(
    'the first call opens a pull request with the commit’s text; progress comes during the review, and nothing is written',
    async () => {
      const repository = repositoryNamed('first')
      const before = digestOfFolder(repository.directory)
      const outcome = await review(repository)
      expect(outcome).toMatchObject({ change: 'opened', alreadyReviewed: false })
      expect(outcome.conclusion).toMatchObject({ verdict: 'concerns', round: 1, baseRef: 'main' })
      expect(outcome.markdown).toMatch(/^## Muster: /)
      expect(outcome.markdown).not.toContain('<!-- muster')
      expect(outcome.heard.at(-1)).toMatchObject({
        kind: 'run',
        state: 'ended',
        lenses: expect.arrayContaining([expect.objectContaining({ lens: 'workflows', state: 'read', findings: 1 })]),
      })
      const { pull } = shown(outcome)
      expect(pull).toMatchObject({ title: 'Add a workflow', body: 'It builds.', base: { ref: 'main' } })
      expect(pull.reviews).toHaveLength(1)
      expect(digestOfFolder(repository.directory)).toBe(before)
    },
    TIMEOUT_MS,
  )

  test(
    'the same head again gets the stored review without a delivery; asked again, a delivery but no post',
    async () => {
      const repository = repositoryNamed('again')
      const first = await review(repository)
      const stood = shown(first)
      const second = await review(repository)
      expect(second).toMatchObject({ change: 'none', alreadyReviewed: true, markdown: first.markdown })
      expect(second.conclusion).toEqual(first.conclusion)
      expect(shown(first)).toEqual(stood)

      const third = await review(repository, { askAgain: true })
      expect(third).toMatchObject({ change: 'asked_again', alreadyReviewed: true, markdown: first.markdown })
      expect(third.conclusion).toEqual(first.conclusion)
      const { pull, actions } = shown(first)
      expect(actions).toEqual(['opened', 'converted_to_draft', 'ready_for_review'])
      expect(pull.reviews).toEqual(stood.pull.reviews)
      expect(pull.issueComments.map(({ id }) => id)).toEqual(stood.pull.issueComments.map(({ id }) => id))
    },
    TIMEOUT_MS,
  )

  test(
    'a new head is a push to the same pull request: a series of its own, or with --thread the next round',
    async () => {
      const repository = repositoryNamed('push')
      const first = await review(repository)
      repository.commit('Add a text', { 'a.txt': 'a\n' })
      const second = await review(repository, { thread: true })
      expect(second).toMatchObject({ change: 'pushed', alreadyReviewed: false, url: first.url })
      expect(second.conclusion).toMatchObject({ round: 2, announcedBefore: [expect.any(String)] })
      repository.commit('Repair the workflow', { '.github/workflows/build.yml': workflow(true) })
      const third = await review(repository)
      expect(third).toMatchObject({ change: 'pushed', url: first.url })
      expect(third.conclusion).toMatchObject({ round: 1, verdict: 'pass', dispositions: [{ verb: 'fixed' }] })
      const { pull, actions } = shown(first)
      expect(pull.reviews).toHaveLength(3)
      expect(pull.title).toBe('Repair the workflow')
      // The title changed together with the head: Muster acts on one event for each.
      expect(actions).toEqual([
        'opened',
        ...['converted_to_draft', 'edited', 'synchronize', 'ready_for_review'],
        ...['closed', 'reopened'],
      ])
    },
    TIMEOUT_MS,
  )

  test(
    'a moved base is the base of the review; the analyzers read a title of its own',
    async () => {
      const repository = repositoryNamed('moved')
      const first = await review(repository)
      repository.git('checkout', '--quiet', 'main')
      const moved = repository.commit('Meanwhile', { 'b.txt': 'b\n' })
      const second = await review(repository)
      expect(second).toMatchObject({ change: 'retargeted', url: first.url })
      expect(shown(first).pull.base.sha).toBe(moved)
      const third = await review(repository, { title: 'A better title' })
      expect(third).toMatchObject({ change: 'edited', url: first.url })
      expect(shown(first).pull).toMatchObject({ title: 'A better title' })
      expect(shown(first).pull.reviews).toHaveLength(1)
    },
    TIMEOUT_MS,
  )

  test(
    'two calls at once meet in one pull request with one review',
    async () => {
      const repository = repositoryNamed('twice')
      const [one, other] = await Promise.all([review(repository), review(repository)])
      expect(one.url).toBe(other.url)
      expect(one.conclusion).toEqual(other.conclusion)
      expect(shown(one).pull.reviews).toHaveLength(1)
    },
    TIMEOUT_MS,
  )

  test(
    'an interrupted call loses nothing: the next call finds the continued review',
    async () => {
      const repository = repositoryNamed('interrupted')
      const change = await readChange(repository.directory, 'main', 'topic')
      const { gitDirectory, repository: name, base, head, subject, body, author } = change
      const request = { gitDirectory, repository: name, base, head, title: subject, body, author, thread: false }
      const interruption = new AbortController()
      const call = reviewer(
        { ...request, askAgain: false },
        ({ kind }) => kind === 'run' && interruption.abort(),
        interruption.signal,
      )
      await expect(call).rejects.toThrow(/abort/i)
      const outcome = await review(repository)
      expect(outcome.change).toBe('none')
      expect(outcome.conclusion.verdict).toBe('concerns')
      expect(shown(outcome).pull.reviews).toHaveLength(1)
    },
    TIMEOUT_MS,
  )
})
