/** The commands that operate a running fleet: what it may do at once, what stands still, which run goes on. */
import path from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { LimitsPatch } from '../shared/fleet/ceiling.ts'
import { finish, stateOption } from './command.ts'
import type { Context } from './operating.ts'

const JSON_HELP = 'print the answer of the API as JSON'
const SCOPES = 'fleet, installation/<id> or repository/<id>, with GitHub’s ids'

interface OperatingFlags {
  readonly state: string
  readonly json?: boolean
}

export function addOperating(program: Command): void {
  addFleet(program)
  addHalts(program)
  addRuns(program)
}

function addFleet(program: Command): void {
  const fleet = program
    .command('fleet')
    .enablePositionalOptions()
    .description('show what a running stack may do at once, who works, who waits and what stands still')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster fleet\n  $ muster fleet --json | jq .waiting')
    .action(async (flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operating.ts')).showFleet(context))
    })
  fleet
    .command('set')
    .description('change the limits; what is not named stays as it is, and "default" takes a limit back')
    .option('--concurrency <n>', 'reviews at once in the whole fleet', limit)
    .option('--per-repository <n>', 'reviews of one repository at once', limit)
    .option('--pool <name=n>', 'reviews at once in a pool; may be repeated', poolLimit, {})
    .option('--account-quota <n>', 'concurrent executions that the account allows these functions', limit)
    .option('--disable', 'one review at a time, whatever is configured')
    .option('--enable', 'as configured again')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText(
      'after',
      `
A value that could never take effect is refused, with the limit named. A raise takes effect at once; lowered, what works
goes on, and nothing new begins until fewer work.

Examples:
  $ muster fleet set --concurrency 15
  $ muster fleet set --per-repository 4 --pool external=16 --pool model/qwen3-coder=2
  $ muster fleet set --pool external=default`,
    )
    .action(async (flags: FleetFlags, command: Command) => {
      const patch = patchOf(flags)
      if (Object.keys(patch).length === 0) command.error('error: no limit is named.', { exitCode: 1 })
      if (flags.enable && flags.disable) command.error('error: --enable and --disable exclude each other.')
      await operate(flags, async (context) => (await import('./operating.ts')).setLimits(context, patch))
    })
}

interface FleetFlags extends OperatingFlags {
  readonly concurrency?: Limit
  readonly perRepository?: Limit
  readonly accountQuota?: Limit
  readonly pool: Pools
  readonly enable?: boolean
  readonly disable?: boolean
}
/** As it is typed; the API knows `default` as null. */
type Limit = number | 'default'
type Pools = Readonly<Record<string, { readonly configured: number | null }>>

function patchOf({ concurrency, perRepository, accountQuota, pool, enable, disable }: FleetFlags): LimitsPatch {
  return {
    ...(concurrency === undefined ? {} : { configured: configuredOf(concurrency) }),
    ...(perRepository === undefined ? {} : { perRepository: configuredOf(perRepository) }),
    ...(accountQuota === undefined ? {} : { accountQuota: configuredOf(accountQuota) }),
    ...(Object.keys(pool).length === 0 ? {} : { pools: pool }),
    ...(enable || disable ? { enabled: enable === true } : {}),
  }
}

function addHalts(program: Command): void {
  program
    .command('halt <scope>')
    .description('stop judging and posting: of the fleet, an installation or a repository')
    .option('--why <text>', 'for those who wonder')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nA scope is ${SCOPES}.\n\nExamples:\n  $ muster halt fleet --why "wrong model"`)
    .action(async (scope: string, flags: OperatingFlags & { readonly why?: string }) => {
      await operate(flags, async (context) => (await import('./operating.ts')).halt(context, scope, flags.why))
    })
  program
    .command('resume <scope>')
    .description('lift a halt; what it held goes on')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nA scope is ${SCOPES}.\n\nExamples:\n  $ muster resume repository/1296269`)
    .action(async (scope: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operating.ts')).resume(context, scope))
    })
}

function addRuns(program: Command): void {
  program
    .command('cancel <run>')
    .description('end a run: its reviews stop, and nothing more of it is posted')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster cancel "$(muster fleet --json | jq -r .slots[0].run)"')
    .action(async (run: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operating.ts')).cancel(context, run))
    })
  program
    .command('retry <run>')
    .description('another attempt of a run that did not read everything; only what is missing is read')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster retry 3f9c…')
    .action(async (run: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operating.ts')).retry(context, run))
    })
}

/** Prints what the command says, and ends the process. */
async function operate(flags: OperatingFlags, say: (context: Context) => Promise<string>): Promise<void> {
  const state = path.resolve(flags.state)
  await finish(state, async (console) => {
    await console.print(await say({ state, json: flags.json ?? false }))
    return 0
  })
}

/** What a limit may be beyond that is the API's to say. */
function limit(text: string): Limit {
  if (text === 'default') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A limit is a whole number, or default.')
}

function poolLimit(text: string, before: Pools): Pools {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new InvalidArgumentError('A pool has a name and a limit: external=16.')
  return { ...before, [text.slice(0, at)]: { configured: configuredOf(limit(text.slice(at + 1))) } }
}

function configuredOf(limit: Limit): number | null {
  return limit === 'default' ? null : limit
}
