import { describeSettings } from '../../core/settings/settings.ts'
import { readSettings } from '../registry/folder.ts'
import { command, settingRows, type Task } from './console/command.ts'
import { sourcesOf } from './console/io.ts'

export const registerSettings = command('settings', {
  about: 'print every effective setting and where it comes from',
  takes: settingRows,
  examples: { 'plimsoll settings --set auth.required=true': 'shows what a setting would change' },
  json: 'an array with an object for each setting: `key`; `value`; `text`, the value as in plimsoll.toml; `origin`',
  fails: 'the settings cannot be read',
  async run({ io, options, report }: Task) {
    const rows = describeSettings(readSettings(options.dir, sourcesOf(io, options)))
    report(
      rows,
      rows.map(row => `${row.key} = ${row.text || '(none)'}  # ${row.origin}`),
    )
  },
})
