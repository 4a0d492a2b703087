/** What pages and sources refer to is in the repository: pages, headings, files and names. */
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { subjects } from '../law/law.ts'
import { commentsOf, files, pages, read } from './pages.ts'

/** Folders below the root, each with a slash at its end. */
const folders = new Set(files.flatMap(foldersOf))

/** Names of pages that are outside of the repository, and sections by number; written so that this line doesn't hold them. */
const OUTSIDE = /\bDESIG[N]\b|\bFACT[S]\b|\b(?:CASE|LOCA|STYL)[SLE]\.md\b|§ ?[0-9]/

test('no source and no page cites a page outside of the repository', () => {
  const cited = files
    .filter((file) => /^(functions|shared|infra|cli|test|bench|docs)\/|^[^/]+\.md$/.test(file))
    .filter((file) => /\.(ts|js|md|svg|json)$/.test(file) && !/package-lock|github-openapi/.test(file))
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => (OUTSIDE.test(line) ? [`${file}:${index + 1}`] : [])),
    )
  expect(cited).toEqual([])
})

test('each source and page that a comment of product code names is in the repository', () => {
  const product = files.filter((file) => /^(functions|shared|infra|cli)\/.*\.ts$/.test(file))
  const wrong = product.flatMap((file) =>
    commentsOf(file)
      .flatMap((comment) => [...comment.matchAll(/(?<![\w./-])[\w./-]+\.(?:ts|md)\b/g)].map(([name]) => name))
      .filter((name) => (isPath(name) || name.endsWith('.md')) && !isThere(name))
      .map((name) => `${file} names ${name}`),
  )
  expect(wrong).toEqual([])
})

test('the picture of the folders has each folder of shared, the pure ones in the order of the law', () => {
  const texts = [...read('docs/house.svg').matchAll(/<text[^>]*>([^<]+)<\/text>/g)].map(([, text = '']) => text)
  const inShared = new Set(files.flatMap((file) => /^shared\/(\w+)\//.exec(file)?.[1] ?? []))
  expect([...inShared].filter((folder) => !texts.includes(folder))).toEqual([])
  expect(texts.filter((text) => subjects.some((subject) => subject === text))).toEqual([...subjects])
})

describe.each(pages)('%s', (page) => {
  test('each relative link leads to a file, and to a heading or an anchor in it', () => {
    expect(linksOf(page).filter((link) => !leads(page, link))).toEqual([])
  })

  test('each path and file name in code spans is in the repository', () => {
    const named = codeSpansOf(page).flatMap((span) => span.split(/[\s,;]+/).filter(isPath))
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})

test('the glossary names types and values that stand where it says', () => {
  const rows = [...read('docs/glossary.md').matchAll(/^\| .+ \| .+ \| ((?:`\w+`(?:, )?)+) in `([^`]+)` \|$/gm)]
  const wrong = rows.flatMap(([, names = '', folder = '']) => {
    const sources = files.filter((file) => file.startsWith(`${folder}/`) && file.endsWith('.ts'))
    const text = sources.map(read).join('\n')
    return [...names.matchAll(/\w+/g)].flatMap(([name]) =>
      new RegExp(`\\b${name}\\b`).test(text) ? [] : [`${name} in ${folder}`],
    )
  })
  expect(rows.length).toBeGreaterThan(40)
  expect(wrong).toEqual([])
})

test('every row of the glossary says where its term lives', () => {
  const rows = [...read('docs/glossary.md').matchAll(/^\| (?!term|---).+$/gm)].map(([row]) => row)
  expect(rows.filter((row) => !/ in `[^`]+` \|$/.test(row))).toEqual([])
})

function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)
}

/** Targets of links and pictures that stay in the repository. */
function linksOf(page: string): string[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

function leads(page: string, link: string): boolean {
  const [target = '', anchor] = link.split('#')
  const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target)
  if (!files.includes(file)) return false
  return anchor === undefined || anchorsOf(read(file)).has(anchor)
}

/** Anchors as GitHub makes them of headings, and those that the page sets itself. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)])
}

function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')
}

function codeSpansOf(page: string): string[] {
  const text = read(page).replace(/```[\s\S]*?```/g, '')
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
}

/** A path below one of the root's folders, or the bare name of a source. `<room>` and `*` stand for anything. */
function isPath(word: string): boolean {
  return /^(functions|shared|infra|cli|test|bench|docs)\/[\w/.<>*-]*$|^[\w.-]+\.(ts|svg)$/.test(word)
}

function isThere(name: string): boolean {
  const pattern = name.replace(/[.]/g, '\\.').replace(/<\w+>/g, '[^/]+').replace(/\*/g, '[^/]*')
  const whole = new RegExp(name.includes('/') ? `^${pattern}/?$` : `(^|/)${pattern}$`)
  return [...files, ...folders].some((known) => whole.test(known))
}
