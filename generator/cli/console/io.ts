import { debuglog, inspect } from 'node:util'
import { CommanderError, InvalidArgumentError } from 'commander'
import {
  groupWarnings,
  type Issue,
  issue,
  kindOf,
  Refusal,
  refuse,
} from '../../../core/error/error.ts'
import { isBucket } from '../../../core/paths/bucket.ts'
import { formatNumber } from '../../../core/quantity.ts'
import { systemRefusal } from '../../places/disk/fault.ts'
import type { Program } from '../../projections/context.ts'
import type { Registry, RegistrySources } from '../../registry/registry.ts'

/** The environment of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  /** The running program; by default this package's. */
  readonly program?: Program
  out(line: string): void
  err(line: string): void
  /** Shows a line until the next one of any kind; '' removes it. Null if stderr is no terminal. */
  readonly transient: ((line: string) => void) | null
  /** Takes the lines of a daemon's log. */
  readonly stderr: Stream
}

/** The same, and how a command asks who runs it, and learns that it shall end. */
export interface Caller extends Io {
  /** Opens a registry folder with all projections; loads them only then. */
  readonly openRegistry: (dir: string, sources: RegistrySources) => Promise<Registry>
  readonly readInput: () => Promise<string>
  /** Asks at the terminal for a text that is not shown; null when there is no terminal. */
  readonly askSecret: ((question: string) => Promise<string>) | null
  /** Resolves when the process shall end, and calls back when it shall read its settings again. */
  readonly stopped: (reload: () => void) => Promise<string>
  /** Whether stdout may still have a reader; only the next printed line can tell. */
  readonly isRead: () => boolean
}

/** A stream of lines, such as `process.stderr`. */
export interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Thrown to end a command with an exit code, after its issues were printed. */
export class Exit extends Error {
  readonly code: 0 | 1 | 2
  constructor(code: 0 | 1 | 2) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Prints issues, one per line. */
export function printIssues(io: Io, issues: readonly Issue[]): void {
  for (const { severity, message } of issues) io.err(`${severity}: ${message}`)
}

/** What most commands take: the registry folder, settings to override, and how to print. */
export interface FolderOptions {
  readonly dir: string
  readonly set?: Readonly<Record<string, string>>
  readonly baseUrl?: string
  readonly api?: string
  readonly listen?: string
  readonly from?: string
  readonly json?: boolean
  readonly verbose?: boolean
}

/** Parses the value of an option; refuses an empty value, such as that of an unset variable. */
export function filled(text: string): string {
  if (text === '') throw new InvalidArgumentError('it is empty')
  return text
}

/** Parses a text that others read on a line of theirs. */
export function lineOfText(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new InvalidArgumentError('write it on one line')
  return filled(text)
}

/** Parses a local path; refuses a URL, which would become a folder. */
export function localPath(text: string): string {
  if (isBucket(text)) throw new InvalidArgumentError('it is a URL; name a file or folder here')
  return filled(text)
}

/** Asks for a token, or reads it from standard input; refuses what Cargo does not take for one. */
export async function readToken({ askSecret, readInput }: Caller): Promise<string> {
  const text = askSecret ? await askSecret('Token: ') : await readInput()
  // What Cargo takes for a token.
  return /^([\t\x20-\x7e]+)\r?\n?$/.exec(text)?.[1] ?? refuse('check_token')
}

/** Returns the settings that a command line overrides, by key. */
export function flagsOf({ set, baseUrl, api, listen }: FolderOptions): Record<string, string> {
  return {
    ...set,
    ...(baseUrl !== undefined && { 'registry.base_url': baseUrl }),
    ...(api !== undefined && { 'registry.api': api }),
    ...(listen !== undefined && { 'server.listen': listen }),
  }
}

/** Returns where the settings of a command come from, and what opens the registry. */
export function sourcesOf({ env, program, err }: Io, options: FolderOptions) {
  return { env, flags: flagsOf(options), program, onUpgrade: err }
}

/** Runs a command. A refusal or an error of the system is printed and sets the exit code. */
export async function run(io: Io, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = refusalOf(error)
    printIssues(io, refusal.issues)
    // 2 for wrong usage or settings.
    throw new Exit(refusal.issues.some(({ code }) => kindOf(code) === 'misuse') ? 2 : 1)
  } finally {
    io.transient?.('')
  }
}

/** Returns why a command failed; the stack of what nobody thought of is for those who ask for it. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof Exit || error instanceof CommanderError || !(error instanceof Error))
    throw error
  const refusal = systemRefusal(error, 'operator')
  if (refusal) return refusal
  debuglog('plimsoll')('%s', inspect(error))
  const code = 'syscall' in error ? 'system_refuses' : 'fault_unexpected'
  return new Refusal([issue(code, { reason: error.message })])
}

/** Prints one warning of each kind with the number of the others, or all of them. */
export function printWarnings(
  io: Io,
  { verbose }: Pick<FolderOptions, 'verbose'>,
  all: readonly Issue[],
): void {
  const shown = verbose ? all : groupWarnings(all)
  printIssues(io, shown)
  if (shown.length < all.length) io.err('`--verbose` lists every one of them')
}

/** A line of a result; false or null for one that is not printed. */
export type Line = string | false | null

/** Prints a result to stdout: with `--json` in the shape that the manual promises, else lines. */
export function report(
  io: Io,
  { json = false }: { readonly json?: boolean },
  result: unknown,
  lines: readonly Line[],
): void {
  if (json) io.out(JSON.stringify(result, null, 2))
  else for (const line of lines) if (typeof line === 'string') io.out(line)
}

export type Outcomes = Record<'added' | 'present' | 'refused' | 'skipped', number>

/** Returns for example `386 added, 1 already present, 2 refused`. */
export function describeOutcomes({ added, present, refused, skipped }: Outcomes): string {
  const already = present > 0 ? `${formatNumber(present)} already present, ` : ''
  const left = skipped > 0 ? `, ${formatNumber(skipped)} skipped` : ''
  return `${formatNumber(added)} added, ${already}${formatNumber(refused)} refused${left}`
}
