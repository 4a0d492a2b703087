/**
 * The configuration of vitest for judging one change: the changed file is replaced at load, in tests and in the
 * simulation's bundle.
 */
import { defineConfig } from 'vitest/config'
import { changedText, changeOfProcess, pathOf } from './change.ts'

const change = changeOfProcess()

export default defineConfig({
  root: '.',
  plugins: change
    ? [
        {
          name: 'mutant',
          enforce: 'pre',
          transform: (source, id) => (id === pathOf(change) ? { code: changedText(change, source), map: null } : null),
        },
      ]
    : [],
  test: {
    include: ['test/**/*.test.ts'],
    // The cache distinguishes plugins by name only, and would judge each mutant by the code of the previous mutant.
    fsModuleCache: false,
    // Two mutants are judged in parallel.
    maxWorkers: 2,
    // ms; only a hanging test takes as long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['json'],
  },
})
