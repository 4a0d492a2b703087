/**
 * Takes the comments of a review and finds their anchors, or refuses all of them: GitHub doesn't name the wrong
 * comment.
 */
import { z } from 'zod'
import { checkReviewBodyLength, unprocessable } from './http.ts'
import { anchorIn, type LineRange, type PatchLine } from './patch.ts'
import type { PullRequest, Repository, ReviewComment } from './records.ts'
import type { World } from './world.ts'

const Side = z.enum(['LEFT', 'RIGHT'])

export const CommentInput = z.object({
  path: z.string(),
  body: z.string().min(1),
  line: z.int().optional(),
  side: Side.optional(),
  start_line: z.int().optional(),
  start_side: Side.optional(),
})
export type CommentInput = z.infer<typeof CommentInput>

export type AnchoredComment = Pick<
  ReviewComment,
  'path' | 'body' | 'line' | 'side' | 'startLine' | 'startSide' | 'position' | 'diffHunk'
>

/** All comments with their anchors; throws GitHub's 422 for the whole review if a comment has none. */
export async function anchorComments(
  world: World,
  repository: Repository,
  pull: PullRequest,
  commitId: string,
  comments: readonly CommentInput[],
): Promise<AnchoredComment[]> {
  if (comments.length === 0) return []
  for (const comment of comments) checkReviewBodyLength(comment.body)
  const paths = new Set(comments.map((comment) => comment.path))
  const patches = await world.patchLines(repository, pull, commitId, paths)
  return comments.map((comment) => anchored(comment, patches.get(comment.path)))
}

function anchored(comment: CommentInput, lines: readonly PatchLine[] | undefined): AnchoredComment {
  if (lines === undefined) throw unprocessable('Path could not be resolved')
  const range = lineRangeOf(comment)
  if (range === null) throw unprocessable('Line could not be resolved')
  const anchor = anchorIn(lines, range)
  if (anchor.found) {
    const { position, diffHunk } = anchor
    return { path: comment.path, body: comment.body, ...range, position, diffHunk }
  }
  switch (anchor.reason) {
    case 'start_not_before_end':
      throw unprocessable('Pull request review thread start line must precede the end line.')
    case 'start_not_in_hunk':
      throw unprocessable('Pull request review thread start line must be part of the same hunk as the line.')
    case 'line_not_in_diff':
      throw unprocessable('Line could not be resolved')
  }
}

function lineRangeOf(comment: CommentInput): LineRange | null {
  if (comment.line === undefined) return null
  const side = comment.side ?? 'RIGHT'
  const startLine = comment.start_line ?? null
  return { line: comment.line, side, startLine, startSide: startLine === null ? null : (comment.start_side ?? side) }
}
