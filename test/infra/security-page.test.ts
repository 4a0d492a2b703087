/** docs/security.md is generated from the tables of the stack, and is current. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { securityPage } from '../../docs/security.ts'
import { reach } from '../../infra/reach.ts'
import { roomNames } from '../../infra/rooms.ts'

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')

test('the page is current; after a change: node docs/security.ts', () => {
  expect(page).toBe(securityPage())
})

test('the page has every room, and every reason of the reach table', () => {
  for (const room of roomNames) {
    expect(page).toContain(`\n### ${room}\n`)
    for (const reason of Object.values(reach[room].why)) expect(page).toContain(`| ${reason} |`)
  }
})
