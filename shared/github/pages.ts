/** Lists of GitHub, page by page, up to a bound; what lies beyond the bound is said to be there. */
import { GITHUB_PAGE, GITHUB_PAGES_MAX } from '../base/limits.ts'
import { unreachable } from './failures.ts'
import type { Rows } from './github.ts'

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** GitHub's `Link` header: which pages there are. */
  readonly link: string | undefined
}

/** Which end is read where a list is longer than the bound: ours are among the newest reviews, but the summary is an old comment. */
export type WhenCut = 'oldest' | 'newest'

/**
 * All rows in GitHub's order, at most GITHUB_PAGES_MAX pages of GITHUB_PAGE. A page that fails fails the whole:
 * part of a list is never taken for the list (D15, H2).
 */
export async function readPages<Row>(
  readPage: (page: number) => Promise<Page<Row>>,
  keep: WhenCut = 'oldest',
  pagesMax = GITHUB_PAGES_MAX,
): Promise<Rows<Row>> {
  const first = await readPage(1)
  const rows = [...first.rows]
  const last = lastPageOf(first.link)
  if (keep === 'newest' && last > pagesMax) {
    // The first page is read already; where the newest are kept, it stands for itself and the rest comes from the end.
    for (let page = last - pagesMax + 2; page <= last; page += 1) rows.push(...(await readPage(page)).rows)
    return { rows, cut: true }
  }
  let more = hasNext(first.link)
  for (let page = 2; more && page <= pagesMax; page += 1) {
    const answer = await readPage(page)
    rows.push(...answer.rows)
    more = hasNext(answer.link)
  }
  return { rows, cut: more }
}

/** The rows that an answer holds; throws `github_unreachable` if it isn't a list. */
export function rowsOf<Row>(route: string, data: readonly Row[] | undefined): readonly Row[] {
  if (Array.isArray(data)) return data
  throw unreachable({ route, writes: false }, 'its answer is no list')
}

/** How a list is asked for. */
export function pageParameters(page: number): { page: number; per_page: number } {
  return { page, per_page: GITHUB_PAGE }
}

function hasNext(link: string | undefined): boolean {
  return link?.includes('rel="next"') ?? false
}

/** `rel="last"`; 1 where GitHub names none. */
function lastPageOf(link: string | undefined): number {
  const last = /[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link ?? '')?.[1]
  return last === undefined ? 1 : Number(last)
}
