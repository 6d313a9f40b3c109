// generator/cli/console: What commands share: arguments, terminal, results. Commands call it; it
// never changes a registry.
import { Argument, type Command, Help, InvalidArgumentError, Option } from 'commander'
import type { Issue } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { workAsOwner } from '../../places/disk/caller.ts'
import { mayBeUnshown } from '../../places/disk/fault.ts'
import type { Progress } from '../../projections/context.ts'
import { type Change, operatorChange } from '../../records/change.ts'
import type { Registry, RegistrySources } from '../../registry/registry.ts'
import {
  type Caller,
  Exit,
  type FolderOptions,
  filled,
  type Line,
  localPath,
  printIssues,
  printWarnings,
  report,
  run,
  sourcesOf,
} from './io.ts'
import { progressLine } from './terminal.ts'

export type Register = (parent: Command, io: Caller) => void

/** What a command works with. */
export interface Task<Options = object> {
  readonly io: Caller
  readonly command: Command
  readonly options: Options & FolderOptions
  readonly progress: Progress
  /** Prints the result: with `--json` as JSON in the shape that the manual promises, else as lines. */
  readonly report: (result: unknown, lines: readonly Line[]) => void
}

/** What a command works with that opens the registry folder. */
export interface RegistryTask<Options = object> extends Task<Options> {
  readonly registry: Registry
  /** The actor of what the command changes. */
  readonly change: Change
}

/** The help of a command, besides its arguments and options. */
export interface Manual {
  readonly examples: Readonly<Record<string, string>>
  /** The output of `--json`; adds the option. */
  readonly json?: string
  /** The meaning of exit code 1; default: `the operation was refused or failed`. */
  readonly fails?: string
}

/** An argument, or an option if its name begins with `-`; in short its meaning. */
type Row =
  | string
  | {
      readonly about: string
      /** Default: `PARSERS` of what its value is called. */
      readonly parse?: (text: string) => unknown
      readonly choices?: readonly string[]
      readonly default?: string
      readonly isRequired?: boolean
    }
type Rows = Readonly<Record<string, Row>>

/** The help of a command, what it takes besides `--dir`, `--set` and `--json`, and what it does. */
interface Declaration<T, Args extends unknown[]> extends Manual {
  readonly about: string
  readonly takes?: Rows
  run(task: T, ...args: Args): Promise<void>
}

export const settingRows = {
  '--base-url <url>': 'URL at which users reach the registry',
  '--api <url>': 'URL of the web API, or `none` for no publishing',
  '--listen <address>':
    'HOST:PORT, unix:/PATH, or PORT alone, which is a port of 127.0.0.1; 0 chooses a free one',
}

const manuals = new WeakMap<Command, Manual>()

/** Declares a command that opens no registry by itself. */
export function command<Options, Args extends unknown[]>(
  name: string,
  { about, takes = {}, run: work, ...manual }: Declaration<Task<Options>, Args>,
): Register {
  return (parent, io) => {
    const made = parent.command(name).description(about)
    const rows: Rows = { ...folderRows(io), ...takes }
    for (const [name, row] of Object.entries(rows)) addRow(made, name, row)
    if (manual.json !== undefined) made.option('--json', 'print the result as JSON')
    made.addHelpText('after', () => `\n${helpText(manual)}`)
    manuals.set(made, manual)
    made.action(() => {
      const options = made.opts<Options & FolderOptions>()
      const task: Task<Options> = {
        ...{ io, command: made, options, progress: progressLine(io) },
        report: (result, lines) => report(io, options, result, lines),
      }
      return run(io, () => work(task, ...(made.processedArgs as Args)))
    })
  }
}

/** Declares a command that opens a registry; with `reads`, it refuses older records. */
export function registryCommand<Options, Args extends unknown[]>(
  name: string,
  {
    reads = false,
    run: work,
    ...declared
  }: Declaration<RegistryTask<Options>, Args> & {
    readonly reads?: boolean | ((options: Options) => boolean)
  },
): Register {
  return command<Options, Args>(name, {
    ...declared,
    async run(task, ...args) {
      const opening = { reads: typeof reads === 'boolean' ? reads : reads(task.options) }
      await withRegistry(task, opened => work(opened, ...args), opening)
    },
  })
}

/** Works with the registry folder open, and closes it in any case. */
export async function withRegistry<Options>(
  task: Task<Options>,
  work: (task: RegistryTask<Options>) => Promise<void>,
  how: Pick<RegistrySources, 'reads' | 'forMove'> = {},
): Promise<void> {
  const { io, options, progress } = task
  workAsOwner(options.dir)
  const sources = { ...sourcesOf(io, options), ...how, progress }
  const registry = await io.openRegistry(options.dir, sources)
  io.transient?.('')
  try {
    await work({ ...task, registry, change: operatorChange(timestamp(io.now())) })
  } catch (error) {
    // Render a change even if its commit is uncertain, or its rendering failed once.
    if (mayBeUnshown(error)) {
      const { drain } = await import('../../pages/build.ts')
      await drain(registry).catch(failure => io.err(`warning: ${failure.message}`))
    }
    throw error
  } finally {
    await registry.close()
  }
}

/** Reports a result after its warnings and refusals; exits with 1 if there is a refusal. */
export function reportChecked(
  { io, options, report }: Task,
  { warnings, refused }: Readonly<Record<'warnings' | 'refused', readonly Issue[]>>,
  result: object,
  lines: readonly string[],
): void {
  printWarnings(io, options, warnings)
  printIssues(io, refused)
  const texts = (issues: readonly Issue[]) => issues.map(issue => issue.message)
  report({ ...result, warnings: texts(warnings), refused: texts(refused) }, lines)
  if (refused.length > 0) throw new Exit(1)
}

/** Declares a group of commands. */
export function commandGroup(name: string, about: string, members: readonly Register[]): Register {
  return (parent, io) => {
    const group = parent.command(name).description(about)
    for (const register of members) register(group, io)
  }
}

function folderRows({ env }: Caller): Rows {
  const add = (text: string, before: Record<string, string> = {}) => {
    const at = text.indexOf('=')
    if (at < 1) throw new InvalidArgumentError('write KEY=VALUE, such as `auth.required=true`')
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
  // An empty variable counts as none: its folder would be the current one.
  const folder = env.PLIMSOLL_DIR || './registry'
  return {
    '--dir <dir>': { about: 'the registry folder', default: folder },
    '--set <key=value>': { about: 'override a setting; can be repeated', parse: add },
  }
}

const PARSERS: Readonly<Record<string, (text: string) => string>> = {
  dir: localPath,
  file: localPath,
  folder: localPath,
  place: filled,
}

function addRow(command: Command, name: string, row: Row): void {
  const spec = typeof row === 'string' ? { about: row } : row
  const { about, choices, default: value, isRequired = false } = spec
  const { parse = PARSERS[/<(\w+)>$/.exec(name)?.[1] ?? ''] } = spec
  const made = name.startsWith('-') ? new Option(name, about) : new Argument(name, about)
  if (parse) made.argParser(parse)
  if (choices) made.choices(choices)
  // Commander quotes texts, and numbers are texts here.
  if (value !== undefined) made.default(value, /^\d+$/.test(value) ? value : undefined)
  if (made instanceof Argument) command.addArgument(made)
  else command.addOption(made.makeOptionMandatory(isRequired))
}

/** Returns the manual of a command; null for a group of commands. */
export function manualOf(command: Command): Manual | null {
  return manuals.get(command) ?? null
}

/** Returns the exit codes of a command, with their meaning. */
export function exitCodes({ fails }: Manual): readonly (readonly [code: number, what: string])[] {
  return [
    [0, 'success'],
    [1, fails ?? 'the operation was refused or failed'],
    [2, 'wrong usage or settings; nothing was changed'],
  ]
}

function helpText(manual: Manual): string {
  const json = manual.json === undefined ? [] : ['JSON:', ...wrapped(manual.json), '']
  const examples = Object.entries(manual.examples).flatMap(([line, meaning]) => [
    `  # ${meaning}`,
    `  ${line}`,
  ])
  const codes = exitCodes(manual).map(([code, what]) => `  ${code}  ${what}`)
  return [...json, 'Examples:', ...examples, '', 'Exit codes:', ...codes].join('\n')
}

/** Breaks a text into indented lines of at most 80 columns. */
function wrapped(text: string): string[] {
  const lines = new Help().boxWrap(text.replaceAll('`', ''), 78).split('\n')
  return lines.map(line => `  ${line}`)
}
