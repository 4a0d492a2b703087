/** `npm test`: every check of the main branch, step by step, each with its time; the first failure ends the run. */
import { spawn } from 'node:child_process'

interface Step {
  readonly name: string
  readonly command: string
  readonly arguments: readonly string[]
}

const STEPS: readonly Step[] = [
  { name: 'format and lint', command: 'biome', arguments: ['check', '.'] },
  { name: 'types', command: 'tsc', arguments: ['-p', 'tsconfig.json'] },
  { name: 'tests', command: 'vitest', arguments: ['run'] },
  { name: 'synth', command: 'cdk', arguments: ['synth', '--quiet'] },
]

/** Ends a step that hangs, ms; on two idle cores the tests take about a third of this time. */
const STEP_MS_MAX = 25 * 60_000

for (const step of STEPS) {
  const startedAt = performance.now()
  console.log(`\n— ${step.name}: ${[step.command, ...step.arguments].join(' ')}`)
  const code = await run(step)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  if (code !== 0) {
    console.error(
      `\n✗ ${step.name} failed after ${seconds} s (exit ${code}). Run \`npx ${step.command} ${step.arguments.join(' ')}\` alone to see it again.`,
    )
    process.exit(1)
  }
  console.log(`✓ ${step.name} in ${seconds} s`)
}

function run({ command, arguments: words }: Step): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: 'inherit', timeout: STEP_MS_MAX })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
