/** GitHub's pagination: `page` and `per_page` in the query, neighbours in the `Link` header. */
import type { Call } from './http.ts'

export interface Page {
  number: number
  size: number
  /** Index of the first item. */
  from: number
}

/** "per_page … (max 100)", 30 by default: docs.github.com, REST, using pagination. */
const PAGE_SIZE_MAX = 100
const PAGE_SIZE_DEFAULT = 30

/** Meaningless numbers count as absent; too large numbers are cut. */
export function pageOf(call: Call): Page {
  const number = positive(call.url.searchParams.get('page')) ?? 1
  const size = Math.min(positive(call.url.searchParams.get('per_page')) ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX)
  return { number, size, from: (number - 1) * size }
}

export function slice<T>(items: readonly T[], page: Page): T[] {
  return items.slice(page.from, page.from + page.size)
}

/** The `Link` header for a page out of `total` items; none for a single page. */
export function linkHeader(call: Call, page: Page, total: number): Record<string, string> {
  const last = Math.max(1, Math.ceil(total / page.size))
  const links: string[] = []
  const add = (relation: string, number: number) => {
    const url = new URL(call.url)
    url.searchParams.set('page', String(number))
    links.push(`<${url}>; rel="${relation}"`)
  }
  if (page.number > 1) add('prev', page.number - 1)
  if (page.number < last) {
    add('next', page.number + 1)
    add('last', last)
  }
  if (page.number > 1) add('first', 1)
  return links.length === 0 ? {} : { link: links.join(', ') }
}

function positive(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null
}
