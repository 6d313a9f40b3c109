import type { Command } from 'commander'
import { backup, restore } from '../backup/backup.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, type Io, progressLine, run, withDir } from './io.ts'

/** `backup FILE` and `restore FILE`: one tar file with everything that cannot be derived. */
export function registerBackup(program: Command, io: Io): void {
  withDir(program.command('backup'), io)
    .description(
      'write settings, database and .crate files to one tar file, also while a daemon is running',
    )
    .argument('<file>')
    .action((file: string, options: FolderOptions) =>
      withRegistry(io, options, async registry => {
        const progress = progressLine(io, 'packing .crate')
        const count = await backup(registry, file, progress.at)
        progress.done()
        io.out(
          `${file} contains the registry with its ${count} .crate files, and the hashes of its tokens; keep it secret`,
        )
      }),
    )
  withDir(program.command('restore'), io)
    .description('create a registry folder from a backup')
    .argument('<file>')
    .action(async (file: string, options: FolderOptions) => {
      await run(io, async () => {
        const count = await restore(file, options.dir)
        io.out(`restored ${count} .crate files`)
      })
      await withRegistry(io, options, async registry => {
        await showChanges(io, registry, true)
        io.out(
          `the registry is in ${options.dir}; check it with \`plimsoll verify --dir ${options.dir}\``,
        )
      })
    })
}
