import type { Argument, Command, Option } from 'commander'
import { settingTable } from '../../../core/settings/schema.ts'

/** What may stand at a place of the command line; `any` is text that nobody can guess. */
export type Kind = 'any' | 'files' | 'folders' | 'crates' | 'settings' | readonly string[]

/** A word that can be completed, with its meaning. */
export interface Word {
  readonly text: string
  readonly about: string
}

/** An option of a command; `value` is null for a flag. */
export interface DescribedOption extends Word {
  readonly value: Kind | null
}

/** A command, or a group of commands. */
export interface Described {
  /** The words that lead to it: `user add`; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly DescribedOption[]
  /** What its arguments are; null for a command without any. */
  readonly argument: Kind | null
}

/** Returns the program and all of its commands, as they are declared. */
export function describeProgram(program: Command): Described[] {
  return [describeCommand(program, ''), ...below(program, '')]
}

function below(command: Command, path: string): Described[] {
  return command.commands.flatMap(one => {
    const own = path === '' ? one.name() : `${path} ${one.name()}`
    return [describeCommand(one, own), ...below(one, own)]
  })
}

function describeCommand(command: Command, path: string): Described {
  const [argument] = command.registeredArguments
  return {
    path,
    commands: command.commands.map(one => ({ text: one.name(), about: one.description() })),
    options: [
      ...command.options.map(one => {
        const value = one.required || one.optional ? kindOf(one, placeholderOf(one)) : null
        return { text: one.long ?? one.flags, about: one.description, value }
      }),
      { text: '--help', about: 'print help', value: null },
    ],
    argument: argument ? kindOf(argument, argument.name()) : null,
  }
}

function placeholderOf({ flags }: Option): string {
  return /[<[]([^>\]]*)/.exec(flags)?.[1] ?? ''
}

function kindOf({ argChoices }: Pick<Argument, 'argChoices'>, placeholder: string): Kind {
  return argChoices ?? KINDS.get(placeholder.replace(/\.+$/, '')) ?? 'any'
}

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['dir', 'folders'],
  ['file', 'files'],
  ['file-or-dir', 'files'],
  ['dir-or-url', 'files'],
  ['source', 'files'],
  ['key=value', 'settings'],
  ['name@version', 'crates'],
  ['name[@version]', 'crates'],
])

/** The keys of the settings, each with the `=` before its value. */
export const settingKeys: readonly string[] = [...settingTable.keys()].map(key => `${key}=`)

/** Quotes text for any of the shells: between single quotes, none of them changes anything. */
export function quoted(text: string, escapedQuote = `'\\''`): string {
  return `'${text.replaceAll('`', '').replaceAll("'", escapedQuote)}'`
}
