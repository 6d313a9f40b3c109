import { Command } from 'commander'
import type { Register } from '../generator/cli/console/command.ts'
import type { Caller, Io } from '../generator/cli/console/io.ts'
import { COMMIT, packing, VERSION } from '../generator/version.ts'

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
  const version = `${VERSION} (commit ${COMMIT}; ${packing()}, Node ${process.versions.node})`
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
  for (const register of await loadCommands(words[0])) register(program, { ...io, ...ends })
  return program
}

/** Commands in the order of the help, each in a module that is loaded when it is needed. */
export const table: Readonly<Record<string, () => Promise<Register>>> = {
  init: async () => (await import('../generator/cli/init.ts')).registerInit,
  add: async () => (await import('../generator/cli/add.ts')).registerAdd,
  yank: async () => (await import('../generator/cli/yank.ts')).registerYank,
  deprecate: async () => (await import('../generator/cli/yank.ts')).registerDeprecate,
  delete: async () => (await import('../generator/cli/delete.ts')).registerDelete,
  import: async () => (await import('../generator/cli/import.ts')).registerImport,
  downloads: async () => (await import('../generator/cli/downloads.ts')).registerDownloads,
  build: async () => (await import('../generator/cli/build.ts')).registerBuild,
  deploy: async () => (await import('../generator/cli/deploy.ts')).registerDeploy,
  push: async () => (await import('../generator/cli/push.ts')).registerPush,
  verify: async () => (await import('../generator/cli/maintenance/verify.ts')).registerVerify,
  status: async () => (await import('../generator/cli/status.ts')).registerStatus,
  settings: async () => (await import('../generator/cli/settings.ts')).registerSettings,
  config: async () => (await import('../generator/cli/upstream/config.ts')).registerConfig,
  upstream: async () => (await import('../generator/cli/upstream/upstream.ts')).registerUpstream,
  impact: async () => (await import('../generator/cli/impact.ts')).registerImpact,
  advisories: async () => (await import('../generator/cli/advisories.ts')).registerAdvisories,
  export: async () => (await import('../generator/cli/upstream/export.ts')).registerExport,
  backup: async () => (await import('../generator/cli/maintenance/backup.ts')).registerBackup,
  restore: async () => (await import('../generator/cli/maintenance/restore.ts')).registerRestore,
  pause: async () => (await import('../generator/cli/maintenance/pause.ts')).registerPause,
  resume: async () => (await import('../generator/cli/maintenance/pause.ts')).registerResume,
  migrate: async () => (await import('../generator/cli/maintenance/migrate.ts')).registerMigrate,
  completion: async () => (await import('../generator/cli/completion.ts')).registerCompletion,
  'complete-words': async () =>
    (await import('../generator/cli/completion.ts')).registerCompleteWords,
  check: async () => (await import('../check/command.ts')).registerCheck,
  user: async () => (await import('./commands/user.ts')).registerUser,
  token: async () => (await import('./commands/token.ts')).registerToken,
  trust: async () => (await import('./commands/trust.ts')).registerTrust,
  owner: async () => (await import('./commands/owner.ts')).registerOwner,
  webhook: async () => (await import('./commands/webhook.ts')).registerWebhook,
  group: async () => (await import('./commands/group.ts')).registerGroup,
  audit: async () => (await import('./commands/audit.ts')).registerAudit,
  serve: async () => (await import('./commands/serve.ts')).registerServe,
  health: async () => (await import('./commands/health.ts')).registerHealth,
}

/** Loads a command: none for `--version`, all for help, an unknown word and `completion`. */
export async function loadCommands(word: string | undefined): Promise<readonly Register[]> {
  if (word === '--version' || word === '-V' || word === '-v') return []
  const isOne = word !== undefined && !/^complet/.test(word) && Object.hasOwn(table, word)
  const only = isOne ? table[word] : undefined
  return Promise.all((only ? [only] : Object.values(table)).map(load => load()))
}
