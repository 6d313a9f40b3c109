import { warning } from '../../core/error/error.ts'
import { describeSettings } from '../../core/settings/settings.ts'
import { readSettings } from '../registry/folder.ts'
import { servedAccess } from '../registry/registry.ts'
import { command, settingRows, type Task } from './console/command.ts'
import { printIssues, sourcesOf } from './console/io.ts'

export const registerSettings = command('settings', {
  about: 'print every effective setting and where it comes from',
  takes: settingRows,
  examples: { 'plimsoll settings --set auth.required=true': 'shows what a setting would change' },
  json: 'an array with an object for each setting: `key`; `value`; `text`, the value as in plimsoll.toml; `origin`',
  fails: 'the settings cannot be read',
  async run({ io, options, report }: Task) {
    const { dir } = options
    const sources = sourcesOf(io, options)
    const { settings } = readSettings(dir, sources)
    const before = await servedAccess(dir, settings).catch(error => {
      printIssues(io, [warning('access_unknown', { reason: error.message })])
      return null
    })
    const rows = describeSettings(readSettings(dir, { ...sources, before }))
    report(
      rows,
      rows.map(row => `${row.key} = ${row.text || '(none)'}  # ${row.origin}`),
    )
  },
})
