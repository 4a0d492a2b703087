/** The page of one pull request: description, checks, comments, and the diff with the comments on its lines. */
import type { Change } from '../git/git.ts'
import type { PatchLine } from '../patch.ts'
import type { Annotation, CheckRun, ReviewComment } from '../records.ts'
import type { PullRequestSnapshot } from '../snapshot.ts'
import { iso } from '../time.ts'
import { diffTable } from './diff.ts'
import { frame } from './list.ts'
import { escapeHtml, renderMarkdown } from './markdown.ts'

type SnapshotReview = PullRequestSnapshot['reviews'][number]

const SHORT_SHA_CHARACTERS = 7

export function pullRequestPage(
  pull: PullRequestSnapshot,
  changes: readonly Change[],
  patches: ReadonlyMap<string, PatchLine[]>,
): string {
  const description = pull.body === null || pull.body.trim() === '' ? '' : renderMarkdown(pull.body)
  const parts = [
    heading(pull),
    card(person(pull.author.login), 'opened this', pull.createdAt, description || '<p class="dim">No description.</p>'),
    checks(pull),
    conversation(pull),
    files(pull, changes, patches),
  ]
  return frame(`${pull.title} · ${pull.repository}#${pull.number}`, parts.join('\n'))
}

function heading(pull: PullRequestSnapshot): string {
  const [colour, word] =
    pull.mergedAt !== null
      ? ['merged', 'Merged']
      : pull.state === 'closed'
        ? ['bad', 'Closed']
        : pull.draft
          ? ['dim', 'Draft']
          : ['good', 'Open']
  const labels = pull.labels.map((label) => `<span class="badge dim">${escapeHtml(label)}</span>`).join(' ')
  return `<p class="dim"><a href="/">All pull requests</a> / ${escapeHtml(pull.repository)}</p>
<h1>${escapeHtml(pull.title)} <span class="number">#${pull.number}</span></h1>
<p><span class="badge ${colour}">${word}</span> <span class="dim">${person(pull.author.login)} wants to merge
<code>${escapeHtml(pull.head.ref)}</code> (${shortSha(pull.head.sha)}) into <code>${escapeHtml(pull.base.ref)}</code></span> ${labels}</p>`
}

function checks(pull: PullRequestSnapshot): string {
  const heads = [...pull.checkRuns].reverse().filter(({ runs }) => runs.length > 0)
  if (heads.length === 0) return ''
  const shown = heads.map(({ headSha, runs }) => {
    const list = runs.map(check).join('')
    const at = `at ${shortSha(headSha)}`
    return headSha === pull.head.sha ? list : `<details><summary>Earlier, ${at}</summary>${list}</details>`
  })
  return `<h2>Checks</h2>${shown.join('')}`
}

function check(run: CheckRun): string {
  const word = run.conclusion ?? run.status
  const colour = { success: 'good', failure: 'bad', timed_out: 'bad', action_required: 'warn' }[word as string] ?? 'dim'
  const texts = [run.summary, run.text].map((text) => (text === null ? '' : renderMarkdown(text))).join('')
  const annotations = run.annotations.map(annotation).join('')
  return `<article class="card"><header><span class="badge ${colour}">${word.replaceAll('_', ' ')}</span>
<strong>${escapeHtml(run.name)}</strong> <span>${escapeHtml(run.title ?? '')}</span></header>
<div class="body">${texts}${annotations === '' ? '' : `<ul>${annotations}</ul>`}</div></article>`
}

function annotation(note: Annotation): string {
  const lines = note.start_line === note.end_line ? String(note.start_line) : `${note.start_line}–${note.end_line}`
  const colour = { failure: 'bad', warning: 'warn', notice: 'dim' }[note.annotation_level]
  return `<li><code>${escapeHtml(note.path)}:${lines}</code> <span class="${colour}">${note.annotation_level}</span>
<strong>${escapeHtml(note.title ?? '')}</strong><br>${escapeHtml(note.message).replaceAll('\n', '<br>')}</li>`
}

function conversation(pull: PullRequestSnapshot): string {
  const comments = pull.issueComments.map((comment) => ({
    at: comment.createdAt,
    html: card(person(comment.author.login), 'commented', comment.createdAt, renderMarkdown(comment.body)),
  }))
  const reviews = pull.reviews.map((review) => ({ at: review.submittedAt ?? Infinity, html: reviewCard(pull, review) }))
  const all = [...comments, ...reviews].sort((one, other) => one.at - other.at)
  const html = all.map((entry) => entry.html).join('') || '<p class="dim">No reviews and no comments yet.</p>'
  return `<h2>Conversation</h2>${html}`
}

function reviewCard(pull: PullRequestSnapshot, review: SnapshotReview): string {
  const said = {
    PENDING: 'has a pending review, invisible to others',
    COMMENTED: 'reviewed',
    APPROVED: 'approved',
    CHANGES_REQUESTED: 'requested changes',
  }[review.state]
  const comments = review.comments.map((comment) => {
    const location = escapeHtml(locationText(comment))
    const current = comment.commitId === pull.head.sha
    const where = current ? `<a href="#comment-${comment.id}">${location}</a>` : `${location} (outdated)`
    const hunk = current ? '' : `<pre>${escapeHtml(comment.diffHunk)}</pre>`
    return `<li>${where}${hunk}${current ? '' : renderMarkdown(comment.body)}</li>`
  })
  const locations = comments.length === 1 ? 'one line' : `${comments.length} lines`
  const list = comments.length === 0 ? '' : `<p class="dim">On ${locations}:</p><ul>${comments.join('')}</ul>`
  const body = renderMarkdown(review.body) + list
  const what = `${said} ${shortSha(review.commitId)}`
  return card(person(review.author.login), what, review.submittedAt, body, review.pending ? 'pending' : '')
}

function files(
  pull: PullRequestSnapshot,
  changes: readonly Change[],
  patches: ReadonlyMap<string, PatchLine[]>,
): string {
  const authorsOf = new Map(pull.reviews.map((review) => [review.id, review]))
  const comments = pull.reviews.flatMap((review) => review.comments).filter((each) => each.commitId === pull.head.sha)
  const say = (comment: ReviewComment) => {
    const pending = authorsOf.get(comment.reviewId)?.pending === true
    const html = card(
      person(comment.author.login),
      pending ? 'pending' : '',
      comment.createdAt,
      renderMarkdown(comment.body),
    )
    return `<div id="comment-${comment.id}">${html}</div>`
  }
  const shown = changes.map((change) => {
    const lines = patches.get(change.path)
    const own = comments.filter((comment) => comment.path === change.path)
    const body = lines === undefined ? '<p class="body dim">No text diff is shown.</p>' : diffTable(lines, own, say)
    const name = change.previousPath === null ? change.path : `${change.previousPath} → ${change.path}`
    return `<article class="card"><header><code>${escapeHtml(name)}</code> <span class="dim small">${change.status}</span>
<span class="good small">+${change.additions}</span> <span class="bad small">−${change.deletions}</span></header>${body}</article>`
  })
  return `<h2>Files changed <span class="dim">${changes.length}</span></h2>${shown.join('')}`
}

function card(who: string, what: string, at: number | null, body: string, classes = ''): string {
  const time = at === null ? '' : `<span class="dim small">${iso(at)}</span>`
  return `<article class="${classes === '' ? 'card' : `card ${classes}`}"><header>${who} <span class="dim">${what}</span> ${time}</header>
<div class="body">${body}</div></article>`
}

function person(login: string): string {
  return `<strong>${escapeHtml(login)}</strong>`
}

function shortSha(sha: string): string {
  return `<code>${escapeHtml(sha.slice(0, SHORT_SHA_CHARACTERS))}</code>`
}

function locationText(comment: ReviewComment): string {
  const lines = comment.startLine === null ? String(comment.line) : `${comment.startLine}–${comment.line}`
  return `${comment.path}:${lines}`
}
