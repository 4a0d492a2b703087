/**
 * I3: at rest GitHub shows exactly what the ledger calls shown: each message once, each resource at its newest
 * generation.
 */
import type { PullRequestSnapshot } from '../../../infra/local/github/snapshot.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { HALTS, type HaltsItem, isHalted, type MessageItem, pullPartition, type RunItem, runKey } from './items.ts'
import { hasLine } from './marker.ts'
import { resourcesOf, shownResources } from './resources.ts'
import type { History, View } from './view.ts'

type Pull = History['pulls'][number]

/** The part of a message's document by which its post is known on GitHub. */
interface Payload {
  readonly kind: 'review' | 'reply'
  readonly marker: string
  readonly comments?: readonly { readonly body: string }[]
}

export function shownInvariant(view: View, judge: Judge): Invariant {
  return {
    atRest() {
      for (const pull of view.history.pulls) {
        judge.looked()
        const shown = view.github.pullRequest(pull.repository, pull.number)
        const messages = itemsOf<MessageItem>(view, pull, 'MESSAGE#')
        const halted = isPullHalted(view, pull)
        for (const message of messages) judgeMessage(shown, message, halted)
        judgeReviews(shown, messages, halted)
        shownResources(judge, {
          pull,
          shown,
          resources: resourcesOf(view, pull),
          halted,
          ourLogin: view.github.ourLogin,
        })
      }
    },
  }

  function judgeMessage(shown: PullRequestSnapshot, message: MessageItem, halted: boolean): void {
    const payload = payloadOf(message)
    const places = placesOf(shown, payload)
    const facts = () => ({ message, places })
    switch (message.state) {
      case 'said': {
        judge.holds(places.length === 1, 'A message that is said does not stand on GitHub once.', facts)
        judge.holds(places[0]?.id === message.githubId, 'A message names another place than it stands at.', facts)
        const said = places[0]?.text ?? ''
        const missing = (payload.comments ?? []).filter(({ body }) => !said.includes(body))
        judge.holds(missing.length === 0, 'A comment of a review is neither inline nor in its body.', () => ({
          message,
          missing,
        }))
        return
      }
      case 'withdrawn':
        judge.holds(places.length === 0, 'A message that was withdrawn stands on GitHub.', facts)
        return
      case 'failed': {
        judge.holds(places.length === 0, 'A message that failed stands on GitHub.', facts)
        judge.holds(message.reason !== undefined, 'A message failed and names no reason.', facts)
        const run = view.table.item(runKey(message.runId)) as unknown as RunItem | undefined
        const outcome = run?.attempt === message.attempt ? run.outcome : undefined
        judge.holds(outcome !== 'reviewed', 'A run counts as reviewed, and its message failed.', facts)
        return
      }
      default:
        judge.holds(halted, 'A message is owed at rest.', facts)
        judge.holds(places.length === 0, 'A message that is owed stands on GitHub at rest.', facts)
    }
  }

  /** A message stands behind each review of ours, and no review of ours is pending. */
  function judgeReviews(shown: PullRequestSnapshot, messages: readonly MessageItem[], halted: boolean): void {
    const ours = shown.reviews.filter(({ author }) => author.login === view.github.ourLogin)
    const pending = ours.filter((review) => review.pending)
    judge.holds(halted || pending.length === 0, 'A pending review of ours is left.', () => ({ pending }))
    const known = new Set(messages.map(({ githubId }) => githubId))
    const unknown = ours.filter((review) => !review.pending && !known.has(review.id))
    judge.holds(unknown.length === 0, 'A review of ours stands on GitHub that no message knows.', () => ({ unknown }))
  }

  function payloadOf(message: MessageItem): Payload {
    const text = view.document(message.document)
    judge.holds(text !== undefined, 'The document of a message is not stored.', () => ({ message }))
    return JSON.parse(text) as Payload
  }

  function placesOf(shown: PullRequestSnapshot, { kind, marker }: Payload): { id: number; text: string }[] {
    const isOurs = ({ author, body }: { author: { login: string }; body: string }) =>
      author.login === view.github.ourLogin && hasLine(body, marker)
    if (kind === 'reply') return shown.issueComments.filter(isOurs).map(({ id, body }) => ({ id, text: body }))
    return shown.reviews
      .filter((review) => !review.pending && isOurs(review))
      .map(({ id, body, comments }) => ({ id, text: [body, ...comments.map((each) => each.body)].join('\n') }))
  }
}

/** Items of a pull request by the beginning of their sort keys. */
export function itemsOf<Item>(view: View, pull: { repositoryId: number; number: number }, sk: string): Item[] {
  const pk = pullPartition(pull)
  return view.table.items(pk, sk).filter((item) => item.pk === pk) as unknown as Item[]
}

/** True if a halt stands for the repository of a pull request, as its runs name the repository. */
export function isPullHalted(view: View, pull: Pull): boolean {
  const halts = view.table.item(HALTS) as unknown as HaltsItem | undefined
  const runs = view.table.items('RUN#', 'RUN') as unknown as RunItem[]
  return runs.some(({ repository }) => repository?.id === pull.repositoryId && isHalted(halts, repository))
}
