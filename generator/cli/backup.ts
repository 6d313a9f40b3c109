import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { backup, restore } from '../backup/backup.ts'
import { migrateCrates } from '../migrate/crates.ts'
import { migrate } from '../migrate/migrate.ts'
import { type Registry, readSettings, serveLock } from '../registry.ts'
import { openCrates } from '../store/storage.ts'
import { showChanges } from './changes.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, flagsOf, type Io, report, run, withDir } from './io.ts'

type Options = FolderOptions & { readonly json?: boolean }
type MoveOptions = Options & { readonly to?: string; readonly crates?: string }

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

/** `migrate`: copies the records to another database, and the `.crate` files to another place. */
export function registerMigrate(program: Command, io: Io): void {
  const command = withDir(program.command('migrate'), io)
    .description('copy all records to a PostgreSQL server or from there to a file, or .crate files')
    .option('--to <url>', 'the URL of an empty PostgreSQL database, or `file`')
    .option('--crates <place>', 'where to copy .crate files, as in `storage.crates`')
    .action((options: MoveOptions) =>
      withRegistry(io, options, registry => move(io, registry, options)),
    )
  withManual(command, {
    examples: [
      ['plimsoll migrate --to postgres://plimsoll@db.example.com/plimsoll', 'copies to a server'],
      ['plimsoll migrate --to file', 'copies from the server in the settings to `plimsoll.db`'],
      [
        'plimsoll migrate --crates s3://my-bucket/crates',
        'copies .crate files, also while a daemon is running; again, what is new',
      ],
    ],
    json: 'an object: with `--to` `records`, the number of copied records; with `--crates` `crate_files`, the number of all .crate files, which were compared, and `copied`, of those that were not there',
    fails:
      'the records could not be copied; they are where they were, and nothing is anywhere else; or a .crate file could not be, and the next call goes on there',
  })
}

async function move(io: Io, registry: Registry, options: MoveOptions): Promise<void> {
  const { to, crates: place } = options
  if (to === undefined && place === undefined) refuse('migrate_nothing')
  const { dir, settings } = registry
  const lock = serveLock(dir)
  const isServed = lock.isHeld()
  // Crates that are published while they are copied would miss in the records, or the other way.
  if (to !== undefined && isServed) refuse('serve_locked', { dir, holder: lock.holder() })
  const progress = progressLine(io)
  let result = {}
  const lines: string[] = []
  if (place !== undefined) {
    const target = await openCrates(resolve(dir), { ...settings.storage, crates: place }, io.env)
    const { crateFiles, copied } = await migrateCrates(registry, target, progress.at)
    result = { crate_files: crateFiles, copied }
    const next = isServed
      ? 'stop the daemon, and run this again for what was published meanwhile'
      : 'set `storage.crates` in plimsoll.toml'
    const files = counted(crateFiles, '.crate file')
    lines.push(`${files} in ${target.place} compared, ${copied} of them copied now; then ${next}`)
  }
  if (to !== undefined) {
    // An empty URL is that of the file.
    const url = to === 'file' ? '' : to
    const flags = { ...flagsOf(options), 'database.url': url }
    const target = readSettings(dir, { env: io.env, flags }).settings.database
    const records = await migrate(registry, target, progress.at)
    result = { records, ...result }
    const next = url === '' ? 'remove `database.url` from' : 'set `database.url` in'
    lines.unshift(
      `copied and compared ${counted(records, 'record')}; now ${next} plimsoll.toml, and start the daemon`,
    )
  }
  progress.done()
  report(io, options, result, lines)
}
