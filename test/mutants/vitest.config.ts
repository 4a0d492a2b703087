/** Tests that judge one change: the file is changed as it is loaded, here and in the simulation's bundle. */
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
    // It knows a plugin by its name only, and would judge each mutant by the code of the one before.
    fsModuleCache: false,
    // Two mutants are judged side by side.
    maxWorkers: 2,
    // ms; nothing waits for these but what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['json'],
  },
})
