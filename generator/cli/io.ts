import { type Command, InvalidArgumentError } from 'commander'
import { groupWarnings, type Issue, issue, kindOf, Refusal } from '../../core/error/error.ts'
import { storageRefusal } from '../store/storage-fault.ts'

/** Flag values by setting key. */
export type Flags = Readonly<Record<string, string>>

/** The environment of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  /** Writes a line to stdout, for results. */
  out(line: string): void
  /** Writes a line to stderr, for everything else. */
  err(line: string): void
  /** Whether stderr is a terminal. */
  readonly isWatched: boolean
}

/** Thrown to end a command with an exit code, after its issues were printed. */
export class Exit extends Error {
  readonly code: 0 | 1 | 2
  constructor(code: 0 | 1 | 2) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Returns the exit code of a refused command: 2 for wrong usage or settings, else 1. */
export function exitCode(refusal: Refusal): 1 | 2 {
  return refusal.issues.some(one => kindOf(one.code) === 'misuse') ? 2 : 1
}

/** Prints issues, one per line. */
export function printIssues(io: Io, issues: readonly Issue[], before = ''): void {
  for (const one of issues) io.err(`${one.severity}: ${before}${one.message}`)
}

/** The registry folder, and the settings that the command line overrides. */
export interface FolderOptions {
  readonly dir: string
  readonly set?: Readonly<Record<string, string>>
  readonly baseUrl?: string
  readonly api?: string
  readonly listen?: string
}

/** Adds `--dir` to a command, and `--set` for every setting. */
export function withDir(command: Command, io: Io): Command {
  const add = (text: string, before: Record<string, string> = {}) => {
    const at = text.indexOf('=')
    if (at < 1) throw new InvalidArgumentError('write KEY=VALUE, such as `auth.required=true`')
    return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  }
  return command
    .option('--dir <dir>', 'the registry folder', io.env.PLIMSOLL_DIR ?? './registry')
    .option('--set <key=value>', 'override a setting; can be repeated', add)
}

/** Adds the flags that set a setting to a command. */
export function withSettingFlags(command: Command): Command {
  return command
    .option('--base-url <url>', 'URL at which users reach the registry')
    .option('--api <url>', 'URL of the web API, or `none` for no publishing')
    .option('--listen <address>', 'HOST:PORT, PORT or unix:/PATH; port 0 chooses a free port')
}

/** Returns the settings that a command line overrides, by key. */
export function flagsOf({ set, baseUrl, api, listen }: FolderOptions): Flags {
  return {
    ...set,
    ...(baseUrl !== undefined && { 'registry.base_url': baseUrl }),
    ...(api !== undefined && { 'registry.api': api }),
    ...(listen !== undefined && { 'server.listen': listen }),
  }
}

/** Runs a command. A refusal or an error of the system is printed and sets the exit code. */
export async function run(io: Io, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = error instanceof Refusal ? error : machineRefusal(error)
    if (!refusal) throw error
    printIssues(io, refusal.issues)
    throw new Exit(exitCode(refusal))
  }
}

/** Error codes of disks, permissions and misplaced files; other system errors are our bugs. */
const OF_THE_SYSTEM = new Set(
  'EACCES EDQUOT EEXIST EFBIG EIO EISDIR ELOOP EMFILE ENFILE ENOSPC ENOTDIR EPERM EROFS'.split(' '),
)

/** SQLite's codes for the same errors, and for damage; its other errors are our bugs. */
const OF_THE_DATABASE = /^SQLITE_(?:BUSY|CANTOPEN|CORRUPT|FULL|IOERR|NOTADB|READONLY)/

/** Returns a refusal for an error of the system, not of this program; null for any other. */
function machineRefusal(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null
  const storage = storageRefusal(error)
  if (storage) return storage
  const { code, path } = error as NodeJS.ErrnoException
  if (typeof code !== 'string') return null
  if (OF_THE_DATABASE.test(code)) {
    return new Refusal([issue('database_unusable', { reason: error.message })], { cause: error })
  }
  if (!OF_THE_SYSTEM.has(code)) return null
  const where = path === undefined || error.message.includes(path) ? '' : ` (${path})`
  return new Refusal([issue('system_refuses', { reason: `${error.message}${where}` })], {
    cause: error,
  })
}

/** Prints one warning of each kind with the number of the others, or all of them. */
export function printWarnings(io: Io, all: readonly Issue[], verbose: boolean): void {
  const shown = verbose ? all : groupWarnings(all)
  printIssues(io, shown)
  if (shown.length < all.length) io.err('`--verbose` lists every one of them')
}

/** Shows the progress of long work. */
export interface ProgressLine {
  at(done: number, total: number): void
  /** Removes the line from the terminal. */
  done(): void
}

/** Shows progress on stderr: one changing line on a terminal, else one line every ten seconds. */
export function progressLine(io: Io, verb: string): ProgressLine {
  const pause = io.isWatched ? 100 : 10_000
  let last = io.isWatched ? 0 : io.now().getTime()
  return {
    at(done, total) {
      const now = io.now().getTime()
      if (now - last < pause && !(io.isWatched && done === total)) return
      last = now
      if (io.isWatched) process.stderr.write(`\r\x1b[K${verb} ${done} of ${total}`)
      else io.err(`${verb} ${done} of ${total}`)
    },
    done() {
      if (io.isWatched && last > 0) process.stderr.write('\r\x1b[K')
    },
  }
}
