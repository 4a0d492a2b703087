import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type TestWorld } from './world.ts'

describe('reading a pull request of a real repository', () => {
  let world: TestWorld
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  it('a pull request is read with its facts, and GitHub’s time in milliseconds', async () => {
    const { github, repo, number, example } = world
    const pull = await github.pullRequest(repo, number)
    expect(pull).toMatchObject({
      number,
      title: example.title,
      body: example.body,
      state: 'open',
      merged: false,
      draft: false,
      head: { sha: example.head.sha, ref: example.head.ref },
      base: { sha: example.base.sha, ref: example.base.ref },
      author: { login: 'ana', type: 'User' },
    })
    expect(Math.abs(pull.updatedAt - Date.now())).toBeLessThan(60_000)
  })

  it('every changed file is read, and the merge base of the diff', async () => {
    const { github, repo, number, example } = world
    const { rows, cut } = await github.files(repo, number)
    expect(cut).toBe(false)
    expect(rows.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/archive.js', 'src/shipping-labels.js']))
    expect(rows.find(({ path }) => path === 'src/shipping-labels.js')?.previousPath).toBe('src/labels.js')
    expect(await github.mergeBase(repo, example.base.sha, example.head.sha)).toMatch(/^[0-9a-f]{40}$/)
  })

  it('tells a file, a missing file and a directory apart, and reads a blob by its id', async () => {
    const { github, repo, number, example } = world
    const text = await github.textAt(repo, example.head.sha, 'src/shipping-labels.js')
    expect(text.state).toBe('text')
    expect(await github.textAt(repo, example.head.sha, 'src/nothing.js')).toEqual({ state: 'absent' })
    expect(await github.textAt(repo, example.head.sha, 'src')).toEqual({ state: 'not_text' })
    const file = (await github.files(repo, number)).rows.find(({ path }) => path === 'src/shipping-labels.js')
    const blob = await github.blob(repo, file?.blob ?? '')
    expect(blob.state === 'bytes' && Buffer.from(blob.bytes).toString()).toBe(text.state === 'text' && text.text)
  })

  it("finds the template on the base branch where GitHub would, and knows the App's own account", async () => {
    const { github, repo, example } = world
    expect(await github.pullRequestTemplate(repo, example.base.ref)).toContain('## ')
    expect(await github.identity()).toMatchObject({ login: 'muster[bot]', appId: 77 })
  })
})
