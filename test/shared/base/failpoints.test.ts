/** Named points: each stands at one place, tests hear of them, and nothing of them is deployed. */
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

test('each point stands at one place', () => {
  const placed = [...sources.matchAll(/\bfailpoint\('([^']+)'\)/g)].map(([, point]) => point)
  expect(placed.sort()).toEqual([...FAILPOINTS].sort())
})

test('every call stands under the label by which it is dropped', () => {
  const calls = sources.split('\n').filter((line) => /\bfailpoint\(/.test(line))
  expect(calls.filter((line) => !/^\s*FAILPOINT: await failpoint\('[^']+'\)$/.test(line))).toEqual([])
})

test('whoever listens is waited for, and what it throws is thrown at the point', async () => {
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

test('no bundle that is deployed holds a point', async () => {
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
