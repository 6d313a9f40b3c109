import type { Command } from 'commander'
import { describeSettings } from '../../core/settings/settings.ts'
import { readSettings } from '../registry/folder.ts'
import {
  type FolderOptions,
  flagsOf,
  type Io,
  report,
  run,
  withDir,
  withSettingFlags,
} from './console/io.ts'
import { withManual } from './console/manual.ts'

/** `settings` prints the settings of the registry and changes nothing. */
export function registerSettings(program: Command, io: Io): void {
  const command = withSettingFlags(withDir(program.command('settings'), io))
    .description('print every effective setting and where it comes from')
    .action((options: FolderOptions & { json?: boolean }) =>
      run(io, async () => {
        const rows = describeSettings(
          readSettings(options.dir, { env: io.env, flags: flagsOf(options) }),
        )
        const lines = rows.map(row => `${row.key} = ${row.text || '(none)'}  # ${row.origin}`)
        report(io, options, rows, lines)
      }),
    )
  withManual(command, {
    examples: [['plimsoll settings --set auth.required=true', 'shows what a setting would change']],
    json: 'an array with an object for each setting: `key`; `value`; `text`, the value as in plimsoll.toml; `origin`',
    fails: 'the settings cannot be read',
  })
}
