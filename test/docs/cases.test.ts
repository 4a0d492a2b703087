/** docs/cases.md has every case id that the repository names, and a test names every id of the page. */
import { describe, expect, test } from 'vitest'
import { files, read, wordsOf } from './pages.ts'

/** Look like ids of cases, and are something else. */
const NO_CASES: Readonly<Record<string, string>> = {
  MD5: 'a digest',
  S3: 'the service of AWS',
  SF1: 'a rule of cdk-nag',
}

const ID = String.raw`[A-Z]{1,2}\d{1,2}`
/** An id with one letter counts in a list that begins a text (`D5, C8: …`) or stands in parentheses: `C1` elsewhere is a block of Unicode. */
const LIST = new RegExp(String.raw`(?<=^|\()${ID}(?:(?:, |–)${ID})*(?=[:,;)])`, 'g')
/** Ids with two letters, and those of invariants, count wherever they stand; `AwsSolutions-SF1` is one word. */
const ANYWHERE = /(?<![\w-])(?:[A-Z]{2}|I)\d{1,2}(?:–(?:[A-Z]{2}|I)\d{1,2})?(?!\w)/g

/** The ids that a text names; `I1–I3` names three. */
function casesIn(text: string): string[] {
  const named = [LIST, ANYWHERE].flatMap((pattern) => [...text.matchAll(pattern)].flatMap(([list]) => list.split(', ')))
  return [...new Set(named.flatMap(rangeOf))].filter((id) => NO_CASES[id] === undefined)
}

function rangeOf(named: string): string[] {
  const [first = '', last = first] = named.split('–')
  const [from, to] = [first, last].map((id) => Number(id.replace(/\D/g, ''))) as [number, number]
  return Array.from({ length: to - from + 1 }, (_, index) => first.replace(/\d+/, String(from + index)))
}

const PAGE = 'docs/cases.md'
const rows = [...read(PAGE).matchAll(/^\| ([A-Z]{1,2}\d{1,2}) \| (.+) \|$/gm)].map(([, id = '', meaning = '']) => ({
  id,
  meaning,
}))

/** The files that name an id, by id. */
function filesByCase(isMeant: (file: string) => boolean): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of files.filter((each) => each !== PAGE && isMeant(each))) {
    const texts = file.endsWith('.md') ? [read(file)] : wordsOf(file)
    for (const id of new Set(texts.flatMap(casesIn))) found.set(id, [...(found.get(id) ?? []), file])
  }
  return found
}

describe('the recogniser of ids', () => {
  test.each([
    ['D5, C8: a draft', ['D5', 'C8']],
    ['a list (R4, AW77), told', ['R4', 'AW77']],
    ['I1–I3 and IL6–IL7, all', ['I1', 'I2', 'I3', 'IL6', 'IL7']],
    ['AD3: never', ['AD3']],
  ])('%s', (text, ids) => {
    expect(casesIn(text)).toEqual(ids)
  })

  test.each([
    'C0 and DEL; C1 has none',
    'S3 answers 403 (S3)',
    'IL: H2 has claimed; the run of H1',
    'AwsSolutions-SF1 and IAM4',
    'P0',
    'an MD5 of %C3%A4',
  ])('no id: %s', (text) => {
    expect(casesIn(text)).toEqual([])
  })
})

test('the page has one plain sentence for each id', () => {
  const ids = rows.map(({ id }) => id)
  expect(rows.length).toBeGreaterThan(150)
  expect(ids).toEqual([...new Set(ids)])
  for (const { id, meaning } of rows) expect(meaning, id).toMatch(/^[A-Z`].*\.$/)
})

test('the page has every id that code, tests and pages name', () => {
  const known = new Set(rows.map(({ id }) => id))
  const named = filesByCase((file) =>
    /^(functions|shared|infra|cli|test|bench|docs|README|CHANGELOG|CONTRIBUTING)\b.*\.(ts|js|md)$/.test(file),
  )
  expect([...named].filter(([id]) => !known.has(id))).toEqual([])
})

test('a test names every id of the page', () => {
  const tested = filesByCase((file) => /^test\/.*\.ts$/.test(file) && file !== 'test/docs/cases.test.ts')
  expect(rows.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([])
})
