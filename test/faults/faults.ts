/**
 * Prints the final state of each item on GitHub, for each fault of GitHub and each moment of a poster's death: `npm run
 * test:faults`, or only the rows with a word in their name: `npm run test:faults -- label`. Ends 1 if an item isn't
 * shown once.
 */
import { openPostWorld } from '../functions/post/world.ts'
import { KILLS, type Kill, runCell, STEPS, TROUBLES, type Trouble } from './cell.ts'

/** A lag longer than any wait between a write and its read-back, by the matrix's own clock, ms. */
const LAG_MS = 3_000

const [word = ''] = process.argv.slice(2)
const steps = STEPS.filter(({ name }) => name.includes(word))
const started = performance.now()
const cells = new Map<string, string>()
await fill(TROUBLES.filter((trouble) => trouble !== 'lag'))
await fill(['lag'], LAG_MS)

for (const kill of KILLS) print(kill)
const wrong = [...cells].filter(([, cell]) => !/^once(,|$)/.test(cell))
const seconds = Math.round((performance.now() - started) / 1_000)
console.log(`\n${cells.size - wrong.length} of ${cells.size} cells hold, in ${seconds} s.`)
for (const [name, cell] of wrong) console.error(`wrong: ${name}: ${cell}`)
process.exit(wrong.length === 0 && cells.size > 0 ? 0 : 1)

/** Fills the columns of these troubles, in a world for them alone. */
async function fill(troubles: readonly Trouble[], lagMs?: number): Promise<void> {
  const world = await openPostWorld(lagMs === undefined ? {} : { lagMs })
  try {
    for (const kill of KILLS) {
      for (const step of steps) {
        for (const trouble of troubles) {
          cells.set(nameOf(step.name, trouble, kill), await runCell(world, { step, trouble, kill }))
        }
      }
    }
  } finally {
    await world.close()
  }
}

function print(kill: Kill): void {
  const cellOf = (step: string, trouble: Trouble) => cells.get(nameOf(step, trouble, kill)) ?? ''
  const widths = TROUBLES.map((trouble) =>
    Math.max(trouble.length, ...steps.map(({ name }) => cellOf(name, trouble).length)),
  )
  const first = Math.max(...steps.map(({ name }) => name.length))
  const line = (name: string, texts: readonly string[]) =>
    console.log([name.padEnd(first), ...texts.map((text, at) => text.padEnd(widths[at] ?? 0))].join('  ').trimEnd())

  console.log(`\nThe first poster ${kill === 'nobody dies' ? 'lives' : kill}:`)
  line('', TROUBLES)
  for (const { name } of steps)
    line(
      name,
      TROUBLES.map((trouble) => cellOf(name, trouble)),
    )
}

function nameOf(step: string, trouble: Trouble, kill: Kill): string {
  return `${step}, ${trouble}, ${kill}`
}
