import { Command } from 'commander'
import { type CommandTable, commands, loadCommands } from '../generator/cli/cli.ts'
import type { Caller, Io } from '../generator/cli/console/io.ts'
import { COMMIT, VERSION } from '../generator/version.ts'

const AFTER_HELP = `
Every command has its own help: plimsoll add --help

Examples:
  # creates a registry in ./registry and serves it
  plimsoll init
  plimsoll serve
  # renders a registry of plain files, without a daemon
  plimsoll build --from crates --out public --base-url https://crates.example.com

Environment:
  PLIMSOLL_DIR          the registry folder, as --dir
  PLIMSOLL_LISTEN       the address of the daemon, as --listen
  PLIMSOLL_SECTION_KEY  a setting: PLIMSOLL_AUTH_REQUIRED is auth.required
  NO_COLOR, FORCE_COLOR no colors, or colors in a pipe, too

Exit codes:
  0  success
  1  the operation was refused or failed
  2  wrong usage or settings; nothing was changed

Documents, in the source archive: docs/README.md; each message: docs/use/messages.md`

/** Returns the program `plimsoll` with the command that `words` name, or with all of them. */
export async function createProgram(
  io: Io,
  words: readonly string[],
  ends: Omit<Caller, keyof Io>,
): Promise<Command> {
  const version = `${VERSION} (commit ${COMMIT})`
  const program = new Command('plimsoll')
    .description(
      'A Cargo registry: plain files for everyone who reads, a small daemon for those who publish.',
    )
    .version(version, '-v', 'the same as -V')
    .version(version)
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
  if (words[0]?.startsWith('-'))
    program.showHelpAfterError('options follow the command: plimsoll status --dir registry')
  for (const register of await loadCommands(table, words[0])) register(program, { ...io, ...ends })
  return program
}

/** All commands; each is a module of its own, so a command loads only what it needs. */
const table: CommandTable = {
  ...commands,
  user: async () => (await import('./commands/user.ts')).registerUser,
  token: async () => (await import('./commands/token.ts')).registerToken,
  audit: async () => (await import('./commands/audit.ts')).registerAudit,
  serve: async () => (await import('./commands/serve.ts')).registerServe,
}
