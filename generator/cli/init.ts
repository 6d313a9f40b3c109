import type { Command } from 'commander'
import { settingTable } from '../../core/settings/schema.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { fromText } from '../../core/settings/source.ts'
import { initRegistry } from '../registry.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, flagsOf, type Io, run, withDir } from './io.ts'

/** `init`: makes the registry folder; asks nothing and is enough for `serve`. */
export function registerInit(program: Command, io: Io): void {
  withDir(program.command('init'), io)
    .description('make a registry folder: settings, database, empty public tree')
    .option('--base-url <url>', 'where users will reach it; default: where the daemon listens')
    .option('--api <url>', '`none` for a registry nobody can publish to; default: the base URL')
    .action(async (options: FolderOptions) => {
      const flags = flagsOf(options)
      await run(io, async () => {
        // All objections to the flags come before anything is made.
        resolveSettings({ env: io.env, flags })
        const values = Object.entries(flags).map(([key, text]) => {
          const setting = settingTable.get(key)
          return [key, setting && fromText(setting.row.kind, text)]
        })
        await initRegistry(options.dir, { env: io.env }, Object.fromEntries(values))
      })
      await withRegistry(io, options, async registry => {
        await showChanges(io, registry, true)
      })
      io.err(
        `made a registry in ${options.dir}; start it with \`plimsoll serve --dir ${options.dir}\``,
      )
    })
}
