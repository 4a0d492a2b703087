/** A process that runs seeds of the simulation until a seed fails, and prints the failing seed; `seeds.ts <count>`. */
import { bundleRooms } from '../simulation/kernel/bundle.ts'
import { runSeed } from '../simulation/run-seed.ts'

const count = Number(process.argv[2])
const coldStart = await bundleRooms()
for (let seed = 1; seed <= count; seed += 1) {
  const { broken } = await runSeed(seed, coldStart, { traced: false })
  if (!broken) continue
  process.stdout.write(JSON.stringify({ seed, message: broken.message.split(/ \{|\n/)[0] }))
  break
}
