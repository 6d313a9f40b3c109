import type { Register } from './console/command.ts'

/** Commands by name, loaded on demand: loading all takes longer than most commands run. */
export type CommandTable = Readonly<Record<string, () => Promise<Register>>>

/** The commands that need no daemon, in the order of the help. */
export const commands: CommandTable = {
  init: async () => (await import('./init.ts')).registerInit,
  add: async () => (await import('./add.ts')).registerAdd,
  yank: async () => (await import('./yank.ts')).registerYank,
  delete: async () => (await import('./delete.ts')).registerDelete,
  import: async () => (await import('./import.ts')).registerImport,
  downloads: async () => (await import('./downloads.ts')).registerDownloads,
  build: async () => (await import('./build.ts')).registerBuild,
  deploy: async () => (await import('./deploy.ts')).registerDeploy,
  push: async () => (await import('./push.ts')).registerPush,
  verify: async () => (await import('./maintenance/verify.ts')).registerVerify,
  status: async () => (await import('./status.ts')).registerStatus,
  settings: async () => (await import('./settings.ts')).registerSettings,
  config: async () => (await import('./upstream/config.ts')).registerConfig,
  upstream: async () => (await import('./upstream/upstream.ts')).registerUpstream,
  export: async () => (await import('./upstream/export.ts')).registerExport,
  backup: async () => (await import('./maintenance/backup.ts')).registerBackup,
  restore: async () => (await import('./maintenance/restore.ts')).registerRestore,
  pause: async () => (await import('./maintenance/pause.ts')).registerPause,
  resume: async () => (await import('./maintenance/pause.ts')).registerResume,
  migrate: async () => (await import('./maintenance/migrate.ts')).registerMigrate,
  completion: async () => (await import('./completion.ts')).registerCompletion,
  'complete-words': async () => (await import('./completion.ts')).registerCompleteWords,
  check: async () => (await import('./maintenance/check.ts')).registerCheck,
}

/** Loads a command: none for `--version`, all for help, an unknown word and `completion`. */
export async function loadCommands(
  table: CommandTable,
  word: string | undefined,
): Promise<readonly Register[]> {
  if (word === '--version' || word === '-V' || word === '-v') return []
  const isOne = word !== undefined && !/^complet/.test(word) && Object.hasOwn(table, word)
  const only = isOne ? table[word] : undefined
  return Promise.all((only ? [only] : Object.values(table)).map(load => load()))
}
