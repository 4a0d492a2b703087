import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/assembly-once.ts',
    // More than there are cores on a small machine: whole stacks mostly wait, for leases, polls and processes.
    maxWorkers: 4,
    // ms; nothing waits for these but what hangs. A pass never depends on how busy the machine is.
    testTimeout: 90_000,
    hookTimeout: 180_000,
  },
})
