import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { timestamp } from '../../../core/timestamp.ts'
import type { Progress } from '../../projections/index/build.ts'
import type { Change } from '../../records/change.ts'
import type { Registry } from '../../registry/registry.ts'
import { type Caller, type FolderOptions, localPath, report, run, sourcesOf } from './io.ts'
import { type Manual, withManual } from './manual.ts'
import { progressLine } from './progress.ts'

/** Adds a command to the program or to a group. */
export type Register = (parent: Command, io: Caller) => void

/** What a command works with. */
export interface Task<Options = object> {
  readonly io: Caller
  readonly command: Command
  readonly options: Options & FolderOptions
  readonly progress: Progress
  /** Prints the result: with `--json` as JSON in the shape that the manual promises, else as lines. */
  readonly report: (result: unknown, lines: readonly string[]) => void
}

/** What a command works with that opens the registry folder. */
export interface RegistryTask<Options = object> extends Task<Options> {
  readonly registry: Registry
  /** For what the command changes. */
  readonly change: Change
}

/** An argument, or an option if it begins with `-`; its meaning; how its text is read. */
type Row = Option | readonly [name: string, meaning: string, parse?: (text: string) => unknown]

/** The help of a command, what it takes besides `--dir`, `--set` and `--json`, and what it does. */
interface Declaration<T, Args extends unknown[]> extends Manual {
  readonly about: string
  readonly takes?: readonly Row[]
  run(task: T, ...args: Args): Promise<void>
}

/** Options that set a setting. */
export const settingRows: readonly Row[] = [
  ['--base-url <url>', 'URL at which users reach the registry'],
  ['--api <url>', 'URL of the web API, or `none` for no publishing'],
  [
    '--listen <address>',
    'HOST:PORT, unix:/PATH, or PORT alone, which is a port of 127.0.0.1; 0 chooses a free one',
  ],
]

/** Declares a command about a registry folder, which it does not open by itself. */
export function folderCommand<Options, Args extends unknown[]>(
  name: string,
  { about, takes = [], run: work, ...manual }: Declaration<Task<Options>, Args>,
): Register {
  return (parent, io) => {
    const command = parent.command(name).description(about)
    for (const row of [...folderRows(io), ...takes]) addRow(command, row)
    withManual(command, manual)
    command.action(() => {
      const options = command.opts<Options & FolderOptions>()
      const task: Task<Options> = {
        ...{ io, command, options, progress: progressLine(io) },
        report: (result, lines) => report(io, options, result, lines),
      }
      return run(io, () => work(task, ...(command.processedArgs as Args)))
    })
  }
}

/**
 * Declares a command that opens the registry folder. If it `reads`, it refuses records of an older
 * version.
 */
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
  return folderCommand<Options, Args>(name, {
    ...declared,
    async run(task, ...args) {
      const opening = { reads: typeof reads === 'boolean' ? reads : reads(task.options) }
      await withRegistry(task, opened => work(opened, ...args), opening)
    },
  })
}

/**
 * Works with the registry folder open, and closes it in any case. `forMove`: also if its records
 * were moved. `reads`: see `RegistrySources`.
 */
export async function withRegistry<Options>(
  task: Task<Options>,
  work: (task: RegistryTask<Options>) => Promise<void>,
  { reads = false, forMove = false } = {},
): Promise<void> {
  // Commands that open no registry load nothing of it.
  const { openRegistry } = await import('../../registry/registry.ts')
  const { operatorChange } = await import('../../records/change.ts')
  const { io, options, progress } = task
  const sources = { ...sourcesOf(io, options), reads }
  const registry = await openRegistry(options.dir, sources, undefined, progress, forMove)
  io.transient?.('')
  try {
    await work({ ...task, registry, change: operatorChange(timestamp(io.now())) })
  } finally {
    await registry.close()
  }
}

/** Declares a group of commands. */
export function commandGroup(name: string, about: string, members: readonly Register[]): Register {
  return (parent, io) => {
    const group = parent.command(name).description(about)
    for (const register of members) register(group, io)
  }
}

function folderRows({ env }: Caller): Row[] {
  const add = (text: string, before: Record<string, string> = {}) => {
    const at = text.indexOf('=')
    if (at < 1) throw new InvalidArgumentError('write KEY=VALUE, such as `auth.required=true`')
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
  // An empty variable counts as none: its folder would be the current one.
  const folder = env.PLIMSOLL_DIR || './registry'
  return [
    new Option('--dir <dir>', 'the registry folder').default(folder).argParser(localPath),
    new Option('--set <key=value>', 'override a setting; can be repeated').argParser(add),
  ]
}

function addRow(command: Command, row: Row): void {
  if (row instanceof Option) {
    command.addOption(row)
    return
  }
  const [name, meaning, parse] = row
  const isOption = name.startsWith('-')
  const made = isOption ? new Option(name, meaning) : new Argument(name, meaning)
  if (parse) made.argParser(parse)
  if (made instanceof Option) command.addOption(made)
  else command.addArgument(made)
}
