/** Comments and labels of a pull request's conversation. In GitHub's API a pull request is an issue here. */
import { type Caller, type Data, inRepo } from './caller.ts'
import { unreachable } from './failures.ts'
import type { CommentSeen, GitHub, Identity } from './github.ts'
import { readList } from './pages.ts'

type Conversation = Pick<
  GitHub,
  'comments' | 'comment' | 'createComment' | 'updateComment' | 'deleteComment' | 'labels' | 'addLabel' | 'removeLabel'
>

/** The comment or label is gone already, as wanted. */
const GONE = [404, 410] as const

export function conversationOf(caller: Caller, identity: () => Promise<Identity>): Conversation {
  return {
    async comments(repo, number) {
      const us = await identity()
      const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'
      const { rows, cut } = await readList(caller, route, { ...inRepo(repo), issue_number: number })
      return { cut, rows: rows.map((row) => commentSeen(row, us)) }
    },

    async comment(repo, id) {
      const us = await identity()
      const route = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}'
      const answer = await caller.callExpecting(route, { ...inRepo(repo), comment_id: id }, GONE)
      return answer.state === 'success' ? commentSeen(answer.data, us) : undefined
    },

    async createComment(repo, number, body) {
      const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
      const { data } = await caller.call(route, { ...inRepo(repo), issue_number: number, body })
      if (data?.id === undefined) throw unreachable({ route, writes: true }, 'its answer names no comment')
      return Number(data.id)
    },

    async updateComment(repo, id, body) {
      const route = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}'
      await caller.call(route, { ...inRepo(repo), comment_id: id, body })
    },

    async deleteComment(repo, id) {
      const route = 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}'
      await caller.callExpecting(route, { ...inRepo(repo), comment_id: id }, GONE)
    },

    async labels(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels'
      const { rows, cut } = await readList(caller, route, { ...inRepo(repo), issue_number: number })
      return { cut, rows: rows.map((label) => label.name) }
    },

    async addLabel(repo, number, label) {
      const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels'
      await caller.call(route, { ...inRepo(repo), issue_number: number, labels: [label] })
    },

    async removeLabel(repo, number, label) {
      const route = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}'
      await caller.callExpecting(route, { ...inRepo(repo), issue_number: number, name: label }, GONE)
    },
  }
}

function commentSeen(data: Data<'GET /repos/{owner}/{repo}/issues/comments/{comment_id}'>, us: Identity): CommentSeen {
  return {
    id: Number(data.id),
    body: data.body ?? '',
    author: data.user?.login ?? 'ghost',
    authorIsUs: Number(data.user?.id) === us.id,
  }
}
