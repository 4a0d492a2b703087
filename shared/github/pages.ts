/** Lists of GitHub, page by page, up to a bound. A longer list is `cut`. */
import { GITHUB_PAGE, GITHUB_PAGES_MAX } from '../base/limits.ts'
import type { Caller, Data, Parameters, Route } from './caller.ts'
import { unreachable } from './failures.ts'
import type { Rows } from './github.ts'

/** Part of GitHub's `Link` header before the last page. */
const NEXT = 'rel="next"'

/** GitHub wraps check runs into an object; all other lists are plain. */
type Row<R extends Route> =
  Data<R> extends { readonly check_runs: readonly (infer CheckRun)[] }
    ? CheckRun
    : Data<R> extends readonly (infer Member)[]
      ? Member
      : never

/**
 * All rows in GitHub's order, of at most `pagesMax` pages; `keep` is the end of a longer list. Throws where the answer
 * is no list or a page fails: part of a list is never taken for the list (D15, H2).
 */
export async function readList<R extends Route>(
  caller: Caller,
  route: R,
  parameters: Parameters<R>,
  { keep = 'oldest', pagesMax = GITHUB_PAGES_MAX }: { keep?: 'oldest' | 'newest'; pagesMax?: number } = {},
): Promise<Rows<Row<R>>> {
  const all: Row<R>[] = []
  /** Reads a page; answers GitHub's `Link` header. */
  async function read(page: number): Promise<string> {
    const { data, headers } = await caller.call(route, { ...parameters, page, per_page: GITHUB_PAGE })
    const rows = Array.isArray(data) ? data : (data as { readonly check_runs?: unknown } | undefined)?.check_runs
    if (!Array.isArray(rows)) throw unreachable({ route, writes: false }, 'its answer is no list')
    all.push(...rows)
    return headers.link ?? ''
  }

  let link = await read(1)
  const last = Number(/[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link)?.[1] ?? 1)
  if (keep === 'newest' && last > pagesMax) {
    // The first page is read already and stays; the other pages come from the end.
    for (let page = last - pagesMax + 2; page <= last; page += 1) await read(page)
    return { rows: all, cut: true }
  }
  for (let page = 2; link.includes(NEXT) && page <= pagesMax; page += 1) link = await read(page)
  return { rows: all, cut: link.includes(NEXT) }
}
