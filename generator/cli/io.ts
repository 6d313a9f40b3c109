import type { Command } from 'commander'
import { type Issue, Refusal } from '../../core/error/error.ts'
import { machineRefusal } from './machine.ts'

/** What a command has of the world around it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  /** Writes a line to stdout: results, for people and programs. */
  out(line: string): void
  /** Writes a line to stderr: everything else. */
  err(line: string): void
  /** Whether somebody watches stderr. */
  readonly isWatched: boolean
}

/** Ends a command with an exit code after its objections were printed. */
export class Exit extends Error {
  readonly code: 0 | 1 | 2
  constructor(code: 0 | 1 | 2) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Objections that say the command was called wrongly: exit code 2. All others are findings: exit code 1. */
const MISUSE = new Set<string>([
  'not_a_registry',
  'registry_exists',
  'file_missing',
  'no_crates_found',
  'folders_overlap',
  'folder_in_use',
  'git_index_foreign',
  'release_spec_invalid',
  'serve_locked',
  'address_taken',
  'duration_invalid',
  'limit_invalid',
  'scope_invalid',
  'crate_pattern_invalid',
  'token_name_invalid',
  'login_invalid',
  'import_source_unknown',
  'import_source_ambiguous',
  'import_source_inner',
  'import_own_folder',
  'import_names_needed',
  'import_names_useless',
  'import_no_dl',
  'import_dl_foreign',
  'import_unpacked_only',
  'import_url_invalid',
])

/** The exit code of a refused command. */
export function exitCode(refusal: Refusal): 1 | 2 {
  const isMisuse = refusal.issues.some(
    one => MISUSE.has(one.code) || one.code.startsWith('setting') || one.code.startsWith('tls_'),
  )
  return isMisuse ? 2 : 1
}

/** Prints objections, one a line. */
export function printIssues(io: Io, issues: readonly Issue[], before = ''): void {
  for (const one of issues) io.err(`${one.severity}: ${before}${one.message}`)
}

/** Gives a command its `--dir`. */
export function withDir(command: Command, io: Io): Command {
  return command.option('--dir <dir>', 'the registry folder', io.env.PLIMSOLL_DIR ?? './registry')
}

/** Runs a command: a refusal is printed and becomes its exit code, also one of the machine it runs on. */
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

/** Shows how far long work is, on a terminal only; `done` wipes the line. */
export function progressLine(
  io: Io,
  verb: string,
): { at(done: number, total: number): void; done(): void } {
  let last = 0
  return {
    at(done, total) {
      if (!io.isWatched || (Date.now() - last < 100 && done < total)) return
      last = Date.now()
      process.stderr.write(`\r\x1b[K${verb} ${done} of ${total}`)
    },
    done() {
      if (io.isWatched && last > 0) process.stderr.write('\r\x1b[K')
    },
  }
}
