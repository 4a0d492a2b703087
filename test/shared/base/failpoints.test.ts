/** Failpoints: each stands at one place, listeners hear of all, and no deployed bundle holds any. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { bundleRooms, repositoryRoot } from '../../../infra/bundle.ts'
import { FAILPOINTS, failpoint, listenAtFailpoints } from '../../../shared/base/failpoints.ts'
import { sourcesBelow } from '../../law/sources.ts'

const sources = sourcesBelow(repositoryRoot, ['functions', 'shared'])
  .filter(({ path: file }) => file !== 'shared/base/failpoints.ts')
  .map(({ text }) => text)
  .join('\n')

test('each failpoint stands at one place', () => {
  const placed = [...sources.matchAll(/\bfailpoint\('([^']+)'\)/g)].map(([, point]) => point)
  expect(placed.sort()).toEqual([...FAILPOINTS].sort())
})

test('every failpoint stands under the label that bundling drops', () => {
  const calls = sources.split('\n').filter((line) => /\bfailpoint\(/.test(line))
  expect(calls.filter((line) => !/^\s*FAILPOINT: await failpoint\('[^']+'\)$/.test(line))).toEqual([])
})

test('a failpoint waits for its listener, and throws the listener’s error', async () => {
  const heard: string[] = []
  const end = listenAtFailpoints(async (point) => {
    await Promise.resolve()
    heard.push(point)
    if (point === 'conclude.written') throw new Error('dies here')
  })
  await failpoint('plan.claimed')
  expect(heard).toEqual(['plan.claimed'])
  await expect(failpoint('conclude.written')).rejects.toThrow('dies here')
  end()
  await failpoint('sweep.moved_on')
  expect(heard).toEqual(['plan.claimed', 'conclude.written'])
})

test('no deployed bundle holds a failpoint', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-points-'))
  try {
    await bundleRooms({ roomsDirectory: path.join(repositoryRoot, 'functions'), outputDirectory: folder })
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'))
    expect(code.length).toBeGreaterThan(8)
    for (const file of code) {
      const text = readFileSync(path.join(folder, file), 'utf8')
      expect(
        FAILPOINTS.filter((point) => text.includes(point)),
        file,
      ).toEqual([])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
