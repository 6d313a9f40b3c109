import { refuseErrors, warning } from '../../../core/error/error.ts'
import { counted } from '../../../core/quantity.ts'
import { ORIGINAL_SETTINGS_FILE, restore } from '../../backup/restore.ts'
import { workAsOwner } from '../../places/disk/caller.ts'
import { showChanges } from '../console/changes.ts'
import { command, type Task, withRegistry } from '../console/command.ts'
import { printIssues, sourcesOf } from '../console/io.ts'

export const registerRestore = command('restore', {
  about: 'create a registry folder from a backup; nothing outside of it is changed',
  takes: { '<file>': 'a file that `plimsoll backup` wrote; - reads standard input' },
  examples: { 'plimsoll restore backups/monday.tar --dir restored': 'restores into a new folder' },
  json: 'an object: `dir`; `crate_files`, the number of restored .crate files; `left_out`, an array of the settings that lead out of the folder, or that this version does not have any more, and are only in `plimsoll.original.toml`; `ignored`, an array of the variables of the environment that do',
  fails: 'the backup could not be restored, or some of it could not be rendered',
  async run(task: Task, file: string) {
    const { io, options, report } = task
    const { dir } = options
    workAsOwner(dir)
    const sources = sourcesOf(io, options)
    const restored = await restore(file, dir, sources, task.progress)
    const { crateFiles, leftOut, variables, within, isAgain } = restored
    if (isAgain) printIssues(io, [warning('restore_again', { dir })])
    const set = Object.keys(sources.flags)
    const inside = { ...options, set: { ...options.set, ...within } }
    await withRegistry({ ...task, options: inside }, async opened => {
      const { issues } = await showChanges(opened, true)
      const { kept } = opened.registry.access
      if (kept.length > 0) printIssues(io, [warning('access_kept', { keys: kept.join(', ') })])
      if (variables.length > 0)
        printIssues(io, [warning('restore_variables', { names: variables.join(', '), dir })])
      const flags = Object.entries(within).map(([key, value]) => ` --set ${key}=${value}`)
      report({ dir, crate_files: crateFiles, left_out: leftOut, ignored: variables }, [
        `restored ${counted(crateFiles, '.crate file')}`,
        leftOut.length > 0 &&
          `plimsoll.toml is without ${leftOut.join(', ')}, which would lead out of the folder or are unknown; ${ORIGINAL_SETTINGS_FILE} has all settings`,
        set.length > 0 &&
          `plimsoll.toml has ${set.join(', ')} as on the command line; ${ORIGINAL_SETTINGS_FILE} is the file of the backup`,
        `the registry is in ${dir}; check it with \`plimsoll verify --dir ${dir}${flags.join('')}\``,
      ])
      refuseErrors(issues)
    })
  },
})
