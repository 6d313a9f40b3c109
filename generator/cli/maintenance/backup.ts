import type { Command } from 'commander'
import { counted } from '../../../core/quantity.ts'
import { backup } from '../../backup/backup.ts'
import { readRegistry } from '../console/folder.ts'
import { type FolderOptions, type Io, localPath, report, withDir } from '../console/io.ts'
import { withManual } from '../console/manual.ts'
import { progressLine } from '../console/progress.ts'

type Options = FolderOptions & { readonly json?: boolean }

/** `backup FILE`: one tar file with everything that cannot be derived. */
export function registerBackup(program: Command, io: Io): void {
  const command = withDir(program.command('backup'), io)
    .description(
      'write settings, database and .crate files to one tar file, also while a daemon is running',
    )
    .argument('<file>', 'the tar file to create', localPath)
    .action((file: string, options: Options) =>
      readRegistry(io, options, async registry => {
        const progress = progressLine(io)
        const crates = await backup(registry, file, progress.at)
        progress.done()
        report(io, options, { file, crate_files: crates }, [
          `${file} contains the registry with its ${counted(crates, '.crate file')}, and the hashes of its tokens; keep it secret`,
        ])
      }),
    )
  withManual(command, {
    examples: [['plimsoll backup backups/monday.tar', 'writes a consistent backup']],
    json: 'an object: `file`, and `crate_files`, the number of .crate files in it',
    fails: 'the backup could not be made; there is no file',
  })
}
