import type { Command } from 'commander'
import { backup, restore } from '../backup/backup.ts'
import { showChanges } from './changes.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'
import { withRegistry } from './folder.ts'
import { counted, type FolderOptions, type Io, report, run, withDir } from './io.ts'

type Options = FolderOptions & { readonly json?: boolean }

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
