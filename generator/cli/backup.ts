import type { Command } from 'commander'
import { counted } from '../../core/quantity.ts'
import { backup, restore } from '../backup/backup.ts'
import { migrate } from '../migrate/migrate.ts'
import { readSettings } from '../registry.ts'
import { showChanges } from './changes.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, flagsOf, type Io, report, run, withDir } from './io.ts'

type Options = FolderOptions & { readonly json?: boolean }
type MoveOptions = Options & { readonly to: string }

/** `backup FILE` and `restore FILE`: one tar file with everything that cannot be derived. */
export function registerBackup(program: Command, io: Io): void {
  const save = withDir(program.command('backup'), io)
    .description(
      'write settings, database and .crate files to one tar file, also while a daemon is running',
    )
    .argument('<file>', 'the tar file to create')
    .action((file: string, options: Options) =>
      withRegistry(io, options, async registry => {
        const progress = progressLine(io)
        const crates = await backup(registry, file, progress.at)
        progress.done()
        report(io, options, { file, crate_files: crates }, [
          `${file} contains the registry with its ${counted(crates, '.crate file')}, and the hashes of its tokens; keep it secret`,
        ])
      }),
    )
  withManual(save, {
    examples: [['plimsoll backup backups/monday.tar', 'writes a consistent backup']],
    json: 'an object: `file`, and `crate_files`, the number of .crate files in it',
    fails: 'the backup could not be made; there is no file',
  })
  const load = withDir(program.command('restore'), io)
    .description('create a registry folder from a backup')
    .argument('<file>', 'a file that `plimsoll backup` wrote')
    .action(async (file: string, options: Options) => {
      let crates = 0
      await run(io, async () => {
        const progress = progressLine(io)
        crates = await restore(file, options.dir, progress.at)
        progress.done()
      })
      await withRegistry(io, options, async registry => {
        await showChanges(io, registry, true)
        report(io, options, { dir: options.dir, crate_files: crates }, [
          `restored ${counted(crates, '.crate file')}`,
          `the registry is in ${options.dir}; check it with \`plimsoll verify --dir ${options.dir}\``,
        ])
      })
    })
  withManual(load, {
    examples: [
      ['plimsoll restore backups/monday.tar --dir restored', 'restores into a new folder'],
    ],
    json: 'an object: `dir`, and `crate_files`, the number of restored .crate files',
    fails: 'the backup could not be restored',
  })
}

/** `migrate --to URL`: copies the records to a PostgreSQL server, or back into a file. */
export function registerMigrate(program: Command, io: Io): void {
  const command = withDir(program.command('migrate'), io)
    .description('copy all records to a PostgreSQL server, or from there to a file')
    .requiredOption('--to <url>', 'the URL of an empty PostgreSQL database, or `file`')
    .action((options: MoveOptions) =>
      withRegistry(io, options, async registry => {
        // An empty URL is that of the file.
        const url = options.to === 'file' ? '' : options.to
        const flags = { ...flagsOf(options), 'database.url': url }
        const { settings } = readSettings(options.dir, { env: io.env, flags })
        const progress = progressLine(io)
        const records = await migrate(registry, settings.database, progress.at)
        progress.done()
        const next = url === '' ? 'remove `database.url` from' : 'set `database.url` in'
        report(io, options, { records }, [
          `copied and compared ${counted(records, 'record')}; now ${next} plimsoll.toml, and start the daemon`,
        ])
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll migrate --to postgres://plimsoll@db.example.com/plimsoll', 'copies to a server'],
      ['plimsoll migrate --to file', 'copies from the server in the settings to `plimsoll.db`'],
    ],
    json: 'an object: `records`, the number of copied records',
    fails:
      'the records could not be copied; they are where they were, and nothing is anywhere else',
  })
}
