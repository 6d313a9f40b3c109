import type { Command } from 'commander'
import { refuseErrors, warning } from '../../../core/error/error.ts'
import { counted } from '../../../core/quantity.ts'
import { restore } from '../../backup/restore.ts'
import { ORIGINAL_SETTINGS_FILE } from '../../backup/restored-settings.ts'
import { showChanges } from '../console/changes.ts'
import { withRegistry } from '../console/folder.ts'
import {
  type FolderOptions,
  flagsOf,
  type Io,
  printIssues,
  report,
  run,
  withDir,
} from '../console/io.ts'
import { withManual } from '../console/manual.ts'
import { progressLine } from '../console/progress.ts'

type Options = FolderOptions & { readonly json?: boolean }

/** `restore FILE`: a registry folder from a backup. */
export function registerRestore(program: Command, io: Io): void {
  const command = withDir(program.command('restore'), io)
    .description('create a registry folder from a backup; nothing outside of it is changed')
    .argument('<file>', 'a file that `plimsoll backup` wrote; - reads standard input')
    .action((file: string, options: Options) => load(io, file, options))
  withManual(command, {
    examples: [
      ['plimsoll restore backups/monday.tar --dir restored', 'restores into a new folder'],
    ],
    json: 'an object: `dir`; `crate_files`, the number of restored .crate files; `left_out`, an array of the settings that lead out of the folder and are only in `plimsoll.original.toml`; `ignored`, an array of the variables of the environment that do',
    fails: 'the backup could not be restored, or some of it could not be rendered',
  })
}

async function load(io: Io, file: string, options: Options): Promise<void> {
  const { dir } = options
  const sources = { env: io.env, flags: flagsOf(options), program: io.program, onUpgrade: io.err }
  await run(io, async () => {
    const progress = progressLine(io)
    const restored = await restore(file, dir, sources, progress.at)
    progress.done()
    const { crateFiles, leftOut, variables, within, isAgain } = restored
    if (isAgain) printIssues(io, [warning('restore_again', { dir })])
    const inside = { ...options, set: { ...options.set, ...within } }
    await withRegistry(io, inside, async registry => {
      const { issues } = await showChanges(io, registry, true)
      if (variables.length > 0)
        printIssues(io, [warning('restore_variables', { names: variables.join(', '), dir })])
      const flags = Object.entries(within).map(([key, value]) => ` --set ${key}=${value}`)
      const result = { dir, crate_files: crateFiles, left_out: leftOut, ignored: variables }
      report(io, options, result, [
        `restored ${counted(crateFiles, '.crate file')}`,
        ...leftOutLines(leftOut),
        ...setLines(Object.keys(sources.flags)),
        `the registry is in ${dir}; check it with \`plimsoll verify --dir ${dir}${flags.join('')}\``,
      ])
      refuseErrors(issues)
    })
  })
}

function leftOutLines(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return []
  return [
    `plimsoll.toml is without ${leftOut.join(', ')}, which would lead out of the folder; ${ORIGINAL_SETTINGS_FILE} has all settings`,
  ]
}

function setLines(keys: readonly string[]): string[] {
  if (keys.length === 0) return []
  return [
    `plimsoll.toml has ${keys.join(', ')} as on the command line; ${ORIGINAL_SETTINGS_FILE} is the file of the backup`,
  ]
}
