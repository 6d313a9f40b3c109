import { counted } from '../../../core/quantity.ts'
import { backup, STDIO } from '../../backup/backup.ts'
import { type RegistryTask, registryCommand } from '../console/command.ts'
import { Exit, printIssues, report } from '../console/io.ts'

export const registerBackup = registryCommand('backup', {
  about:
    'write settings, database and .crate files to one tar file, also while a daemon is running',
  takes: { '<file>': 'the tar file to create; - writes to standard output' },
  examples: {
    'plimsoll backup backups/monday.tar': 'writes a consistent backup',
    'plimsoll backup - | zstd > monday.tar.zst': 'writes it to another program',
  },
  json: 'an object: `file`; `crate_files`, the number of .crate files in it; `lost`, an array of texts, one for each that is missing or damaged',
  fails:
    'the backup could not be made, and there is no file; or it lacks the .crate files that `lost` names',
  reads: true,
  async run({ io, registry, options, progress }: RegistryTask, file: string) {
    const { crateFiles, lost } = await backup(registry, file, progress)
    printIssues(io, lost)
    const isOutput = file === STDIO
    // Standard output has the backup, and nothing else.
    const told = isOutput ? { ...io, out: io.err } : io
    report(
      told,
      options,
      { file, crate_files: crateFiles, lost: lost.map(({ message }) => message) },
      [
        `${isOutput ? 'the backup' : file} contains the registry with its ${counted(crateFiles, '.crate file')}, and the hashes of its tokens; keep it secret`,
        'its copy of the records was checked, and is sound',
      ],
    )
    if (lost.length > 0) throw new Exit(1)
  },
})
