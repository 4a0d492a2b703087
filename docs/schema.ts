/** Writes docs/muster.schema.json from the schema that the code validates with: `node docs/schema.ts`. */
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from '../shared/verdict/config.ts'

writeFileSync(
  new URL('muster.schema.json', import.meta.url),
  `${JSON.stringify(configurationJsonSchema(), undefined, 2)}\n`,
)
