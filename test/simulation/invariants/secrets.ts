/** I8, secrets: no planted secret is in an item, in a document, on GitHub or in a log. */
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import type { View } from './view.ts'

/** Members with the names of documents behind a post. The plan isn't among them: a plan holds the diff. */
const DOCUMENTS = ['result', 'conclusion', 'document'] as const

export function secretsInvariant(view: View, judge: Judge): Invariant {
  const { canaries } = view.history
  let writes = 0
  let logs = 0

  function clean(text: string, where: () => Readonly<Record<string, unknown>>): void {
    const found = canaries.filter((canary) => text.includes(canary))
    judge.holds(found.length === 0, 'A planted secret got out.', () => ({ found, ...where() }))
  }

  return {
    afterStep() {
      for (; writes < view.github.writes.length; writes += 1) {
        const { sent, kind, at } = view.github.writes[writes] ?? {}
        if (canaries.length > 0) clean(JSON.stringify(sent ?? {}), () => ({ github: kind, at }))
      }
      for (; logs < view.logs.length; logs += 1) {
        const line = view.logs[logs] ?? ''
        if (canaries.length > 0) clean(line, () => ({ line }))
      }
    },
    atRest() {
      judge.looked()
      if (canaries.length === 0) return
      const digests = new Set<string>()
      for (const item of view.table.items()) {
        clean(JSON.stringify(item), () => ({ item }))
        const named = [item, ...Object.values(item).filter((value) => typeof value === 'object' && value !== null)]
        for (const holder of named) {
          for (const member of DOCUMENTS) {
            const digest: unknown = Reflect.get(holder as object, member)
            if (typeof digest === 'string') digests.add(digest)
          }
        }
      }
      for (const digest of digests) clean(view.document(digest) ?? '', () => ({ document: digest }))
    },
  }
}
