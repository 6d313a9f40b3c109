import type { Command } from 'commander'
import { counted } from '../../../core/quantity.ts'
import { backup, STDIO } from '../../backup/backup.ts'
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
    .argument('<file>', 'the tar file to create; - writes to standard output', localPath)
    .action((file: string, options: Options) =>
      readRegistry(io, options, async registry => {
        const progress = progressLine(io)
        const crates = await backup(registry, file, progress.at)
        progress.done()
        const isOutput = file === STDIO
        // Standard output has the backup, and nothing else.
        const told = isOutput ? { ...io, out: io.err } : io
        report(told, options, { file, crate_files: crates }, [
          `${isOutput ? 'the backup' : file} contains the registry with its ${counted(crates, '.crate file')}, and the hashes of its tokens; keep it secret`,
        ])
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll backup backups/monday.tar', 'writes a consistent backup'],
      ['plimsoll backup - | zstd > monday.tar.zst', 'writes it to another program'],
    ],
    json: 'an object: `file`, and `crate_files`, the number of .crate files in it',
    fails: 'the backup could not be made; there is no file',
  })
}
