/** The common parts of all commands: the report of wrong use, common options, and the end of the process. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { openConsole } from './console.ts'
import { report } from './errors.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { defaultStateDirectory } from './settings.ts'

const PORT_MAX = 65_535

/** A command whose wrong use throws instead of an end of the process; its subcommands behave alike. */
export function createCommand(name: string): Command {
  return new Command(name)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      outputError: (text, write) =>
        write(`muster: usage: ${text.replace(/^error: /, '').trim()} Add --help for the options.\n`),
    })
    .helpOption('-h, --help', 'show this help')
}

export function portOption(byDefault: number): Option {
  return new Option('--port <number>', 'port of the webhook on 127.0.0.1; 0 takes any free port')
    .default(byDefault)
    .argParser(portNumber)
}

export function stateOption(): Option {
  return new Option('--state <dir>', 'folder of the state between calls').default(
    defaultStateDirectory,
    "Muster's own .muster/",
  )
}

/** Runs a command's work and ends the process with its exit code; a failure is one line on stderr. */
export async function finish(state: string, work: (console: ReturnType<typeof openConsole>) => Promise<number>) {
  const console = openConsole()
  let code: number
  try {
    code = await work(console)
  } catch (error) {
    const { line, exitCode } = report(error, state)
    process.stderr.write(`${line}\n`)
    code = exitCode
  }
  // Open connections have nothing more to do.
  process.exit(code)
}

/** Runs the command of the arguments. Wrong use ends with 64, after commander's explanation. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exit(error.exitCode === 0 ? EXIT_CODES.pass.code : EXIT_CODES.usage.code)
  }
}

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) {
    throw new InvalidArgumentError(`A port is a number from 0 to ${PORT_MAX}.`)
  }
  return port
}
