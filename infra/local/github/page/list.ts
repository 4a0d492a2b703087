/** The page of all pull requests, and the frame of every page. */
import type { PullRequest, Repository } from '../records.ts'
import { escapeHtml } from './markdown.ts'
import { STYLE } from './style.ts'

export function frame(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<style>${STYLE}</style></head><body><main>${content}</main></body></html>`
}

export function listPage(repositories: readonly (readonly [Repository, readonly PullRequest[]])[]): string {
  const parts = repositories.map(([repository, pulls]) => {
    const name = escapeHtml(`${repository.owner}/${repository.name}`)
    const items = [...pulls]
      .sort((one, other) => other.number - one.number)
      .map((pull) => `<li><a href="/${name}/pull/${pull.number}">${escapeHtml(pull.title)}</a> ${describe(pull)}</li>`)
    return `<h2>${name}</h2>${items.length === 0 ? '<p class="dim">No pull requests yet.</p>' : `<ul>${items.join('')}</ul>`}`
  })
  return frame('Pull requests', `<h1>Pull requests</h1>${parts.join('') || '<p class="dim">No repositories yet.</p>'}`)
}

export function notFoundPage(): string {
  return frame('Not found', '<h1>There is no such pull request</h1><p><a href="/">All pull requests</a></p>')
}

function describe(pull: PullRequest): string {
  return `<span class="dim">#${pull.number} by ${escapeHtml(pull.author.login)}, ${pull.state}</span>`
}
