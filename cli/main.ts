/** The `muster` command. */
import { runProgram } from './command.ts'
import { createProgram } from './program.ts'

await runProgram(createProgram())
