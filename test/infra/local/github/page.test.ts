/** The page shows the content of a pull request, and runs no text of it. */
import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../../infra/local/github/page/markdown.ts'
import { AT, clientOf, makeRepository, REPOSITORY, startedGitHub, withPullRequest } from './support.ts'

const EVIL = `<script>alert(1)</script><img src=x onerror="alert(2)"> [x](javascript:alert(3)) "quoted" 'single'`

test('description, diff, comments beside their lines, summary and checks are on the page, all escaped', async () => {
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': `${EVIL}\n`, '<b>.txt': 'x\n' })
  const { github, octokit, number } = await withPullRequest(made)
  await github.edit(REPOSITORY, number, { title: EVIL, body: EVIL })
  const at = { ...AT, pull_number: number }
  const comments = [{ path: 'a.txt', line: 1, body: `said here ${EVIL}` }]
  await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
    ...at,
    body: `review ${EVIL}`,
    event: 'COMMENT',
    comments,
  })
  await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...AT,
    issue_number: number,
    body: `<!-- for machines only -->\n## Summary\n${EVIL}`,
  })
  const annotations = [
    { path: EVIL, start_line: 1, end_line: 1, annotation_level: 'failure' as const, title: EVIL, message: EVIL },
  ]
  const output = { title: EVIL, summary: EVIL, text: EVIL, annotations }
  await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
    ...AT,
    name: EVIL,
    head_sha: made.commits[1] ?? '',
    status: 'completed',
    conclusion: 'failure',
    output,
  })

  const answer = await fetch(`${github.url}/${REPOSITORY}/pull/${number}`)
  const page = await answer.text()
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  expect(page).not.toMatch(/<script|<img|onerror="|href="javascript|<b>\.txt/)
  expect(page).toContain('<h4>Summary</h4>')
  expect(page).not.toContain('for machines only')
  const [row = '', after = ''] = page.split('<tr class="added marked">').slice(1).join('').split('said here')
  expect(row).toContain('&lt;script&gt;')
  expect(after).not.toBe('')
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('an unknown pull request and an unknown repository are a page too', async () => {
  const { github } = await withPullRequest(makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }))
  for (const path of [`/${REPOSITORY}/pull/9`, '/no/where/pull/1']) {
    expect((await fetch(github.url + path)).status).toBe(404)
  }
  const list = await (await fetch(github.url)).text()
  expect(list).toContain(`href="/${REPOSITORY}/pull/1"`)
})

test('the page of an empty stand-in says that no repositories exist yet', async () => {
  const github = await startedGitHub()
  expect(await (await fetch(github.url)).text()).toContain('No repositories yet.')
  await expect(clientOf(github).request(`GET /repos/${REPOSITORY}/pulls/1`)).rejects.toMatchObject({ status: 404 })
})

describe('Markdown', () => {
  test.each([
    ['# One', '<h3>One</h3>'],
    ['##### Five', '<h6>Five</h6>'],
    ['a **b** *c* `d<e`', '<p>a <strong>b</strong> <em>c</em> <code>d&lt;e</code></p>'],
    ['- a\n- b\n  - c', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    ['1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
    ['> quoted\n> more', '<blockquote><p>quoted<br>more</p></blockquote>'],
    ['```js\n<!-- kept --> **as is**\n```', '<pre><code class="js">&lt;!-- kept --&gt; **as is**</code></pre>'],
    [
      '| a | b |\n|---|---|\n| 1 | x\\|y |',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>x|y</td></tr></tbody></table>',
    ],
    [
      '[text](https://example.com/a?b=1&c=2)',
      '<p><a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer">text</a></p>',
    ],
    ['snake_case_name', '<p>snake_case_name</p>'],
    ['before <!-- gone\nover lines --> after', '<p>before  after</p>'],
    ['<!-- muster:v1 hidden -->\n## Summary', '<h4>Summary</h4>'],
    [
      '<details><summary>All</summary>\n\n- a\n\n</details>\n\n<sub>by Muster</sub>',
      '<details><summary>All</summary><ul><li>a</li></ul></details><p><sub>by Muster</sub></p>',
    ],
    ['<!-- never closed\n<b>shown</b>', '&lt;!-- never closed&lt;b&gt;shown&lt;/b&gt;'],
    ['<details onclick="x">', '&lt;details onclick=&quot;x&quot;&gt;'],
    ['a <sub title="x">b</sub>', '<p>a &lt;sub title=&quot;x&quot;&gt;b</sub></p>'],
    ['<!-- a --><script>b</script>', '&lt;script&gt;b&lt;/script&gt;'],
    ['![a](https://example.com/a.png)', '<p>!<a href="https://example.com/a.png" rel="noopener noreferrer">a</a></p>'],
    ['[a](javascript:b) <javascript:c>', '<p>[a](javascript:b) &lt;javascript:c&gt;</p>'],
    ['[a][b]\n\n[b]: data:text/html,c', '<p>[a][b]</p><p>[b]: data:text/html,c</p>'],
    ['[a](/b)', '<p>[a](/b)</p>'],
  ])('%j', (text, html) => {
    expect(renderMarkdown(text).replaceAll('\n', '')).toBe(html)
  })

  test('any text ends as HTML with harmless tags only', () => {
    const pieces = [
      '<',
      '>',
      '`',
      '```',
      '*',
      '**',
      '_',
      '|',
      '\n',
      '- ',
      '  ',
      '#',
      '> ',
      '<!--',
      '-->',
      '[',
      '](',
      'https://x',
      ')',
      '"',
      '<details>',
      '</sub>',
      '<b a="',
      '![',
      'javascript:',
      '&lt;',
      'a',
    ]
    for (let seed = 1; seed <= 2_000; seed += 1) {
      let state = seed
      const text = Array.from({ length: 30 }, () => {
        state = (state * 48_271) % 2_147_483_647
        return pieces[state % pieces.length]
      }).join('')
      const html = renderMarkdown(text)
      const tags = html.match(
        /<(?!\/?(?:p|h[3-6]|ul|ol|li|pre|code|blockquote|strong|em|s|hr|br|table|thead|tbody|tr|td|th|details|sub|a)\b)/g,
      )
      expect(tags, text).toBeNull()
      expect(
        html.match(/ (?!href="(?:https?:|")|rel="noopener noreferrer"|title="|class="|start=")[a-z]+="/g),
        text,
      ).toBeNull()
    }
  })
})
