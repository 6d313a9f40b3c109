import type { Command } from 'commander'
import { initRegistry } from '../registry/registry.ts'
import { showChanges } from './console/changes.ts'
import { withRegistry } from './console/folder.ts'
import { type FolderOptions, flagsOf, type Io, report, run, withDir } from './console/io.ts'
import { withManual } from './console/manual.ts'

/** `init`: creates the registry folder, with all that `serve` needs; asks no questions. */
export function registerInit(program: Command, io: Io): void {
  const init = withDir(program.command('init'), io)
    .description('create a registry folder: settings, database, empty public tree')
    .option('--base-url <url>', 'URL for users; default: the address the daemon listens on')
    .option('--api <url>', 'URL of the web API, or `none` for no publishing; default: the base URL')
    .action(async (options: FolderOptions & { json?: boolean }) => {
      await run(io, () => initRegistry(options.dir, { env: io.env }, flagsOf(options)))
      await withRegistry(io, options, async registry => {
        await showChanges(io, registry, true)
        const { base, sparseIndex: index, api } = registry.urls
        report(io, options, { dir: options.dir, base_url: base, index, api }, [
          `created a registry in ${options.dir}; start it with \`plimsoll serve --dir ${options.dir}\``,
        ])
      })
    })
  withManual(init, {
    json: 'an object: `dir`; `base_url`; `index`, the index URL for Cargo; `api`, URL of the web API or null',
    examples: [
      ['plimsoll init', 'creates ./registry, to try it on this machine'],
      [
        'plimsoll init --dir srv --base-url https://crates.example.com',
        'creates a registry that others reach at this address',
      ],
    ],
  })
}
