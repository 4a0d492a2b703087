/** The commands that operate a running fleet: limits, halts, and the runs to cancel or retry. */
import path from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { LimitsPatch } from '../shared/fleet/ceiling.ts'
import { finish, stateOption } from './command.ts'
import type { Context } from './operations.ts'

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
    .description('show the limits, the working and waiting reviews, and the halts of a running stack')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster fleet\n  $ muster fleet --json | jq .waiting')
    .action(async (flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operations.ts')).showFleet(context))
    })
  fleet
    .command('set')
    .description('change limits; unnamed limits stay, and "default" restores a limit')
    .option('--concurrency <n>', 'reviews at once in the whole fleet', limit)
    .option('--per-repository <n>', 'reviews of one repository at once', limit)
    .option('--pool <name=n>', 'reviews at once in a pool; repeatable', poolLimit)
    .option('--account-quota <n>', 'concurrent executions that the account allows these functions', limit)
    .option('--disable', 'run one review at a time, whatever the limits are')
    .option('--enable', 'run reviews within the limits again')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText(
      'after',
      `
A value that could never take effect is refused, and the error names the limit that forbids the value. A raised limit
takes effect at once. A lowered limit ends no review; nothing new begins until fewer reviews work.

Examples:
  $ muster fleet set --concurrency 15
  $ muster fleet set --per-repository 4 --pool external=16 --pool model/qwen3-coder=2
  $ muster fleet set --pool external=default`,
    )
    .action(async (flags: FleetFlags, command: Command) => {
      const patch = patchOf(flags)
      if (Object.keys(patch).length === 0) command.error('error: name at least one limit.', { exitCode: 1 })
      if (flags.enable && flags.disable) command.error('error: --enable and --disable exclude each other.')
      await operate(flags, async (context) => (await import('./operations.ts')).setLimits(context, patch))
    })
}

interface FleetFlags extends OperatingFlags {
  readonly concurrency?: Limit
  readonly perRepository?: Limit
  readonly accountQuota?: Limit
  readonly pool?: Pools
  readonly enable?: boolean
  readonly disable?: boolean
}
/** The typed value; the API knows `default` as null. */
type Limit = number | 'default'
type Pools = Readonly<Record<string, { readonly configured: number | null }>>

function patchOf({ concurrency, perRepository, accountQuota, pool = {}, enable, disable }: FleetFlags): LimitsPatch {
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
    .description('stop new judgements and posts of the fleet, an installation or a repository')
    .option('--why <text>', 'the reason, for other people')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nA scope is ${SCOPES}.\n\nExamples:\n  $ muster halt fleet --why "wrong model"`)
    .action(async (scope: string, flags: OperatingFlags & { readonly why?: string }) => {
      await operate(flags, async (context) => (await import('./operations.ts')).halt(context, scope, flags.why))
    })
  program
    .command('resume <scope>')
    .description('lift a halt; held runs go on')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nA scope is ${SCOPES}.\n\nExamples:\n  $ muster resume repository/1296269`)
    .action(async (scope: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operations.ts')).resume(context, scope))
    })
}

function addRuns(program: Command): void {
  program
    .command('cancel <run>')
    .description('end a run: its reviews stop, and nothing more of the run is posted')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster cancel "$(muster fleet --json | jq -r .slots[0].run)"')
    .action(async (run: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operations.ts')).cancel(context, run))
    })
  program
    .command('retry <run>')
    .description('start another attempt of a run that failed or is incomplete; completed reviews are reused')
    .addOption(stateOption())
    .option('--json', JSON_HELP)
    .addHelpText('after', '\nExamples:\n  $ muster retry 3f9c…')
    .action(async (run: string, flags: OperatingFlags) => {
      await operate(flags, async (context) => (await import('./operations.ts')).retry(context, run))
    })
}

/** Prints the command's text, and ends the process. */
async function operate(flags: OperatingFlags, say: (context: Context) => Promise<string>): Promise<void> {
  const state = path.resolve(flags.state)
  await finish(state, async (console) => {
    await console.print(await say({ state, json: flags.json ?? false }))
    return 0
  })
}

/** The API checks a limit's range. */
function limit(text: string): Limit {
  if (text === 'default') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A limit is a whole number, or default.')
}

function poolLimit(text: string, before: Pools | undefined): Pools {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new InvalidArgumentError('A pool has a name and a limit: external=16.')
  return { ...before, [text.slice(0, at)]: { configured: configuredOf(limit(text.slice(at + 1))) } }
}

function configuredOf(limit: Limit): number | null {
  return limit === 'default' ? null : limit
}
