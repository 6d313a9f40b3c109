import type { Command } from 'commander'
import { build } from '../build/build.ts'
import { buildPages } from '../pages/pages.ts'
import { initRegistry } from '../registry.ts'
import { withRegistry } from './folder.ts'
import { commitToGit } from './git.ts'
import { type Io, run, withDir } from './io.ts'

/** `init`: makes the registry folder; asks nothing and is enough for `serve`. */
export function registerInit(program: Command, io: Io): void {
  withDir(program.command('init'), io)
    .description('make a registry folder: settings, database, empty public tree')
    .option('--base-url <url>', 'where users will reach it; default: where the daemon listens')
    .option('--api <url>', '`none` for a registry nobody can publish to; default: the base URL')
    .action(async (options: { dir: string; baseUrl?: string; api?: string }) => {
      const flags = { 'registry.base_url': options.baseUrl, 'registry.api': options.api }
      await run(io, () => initRegistry(options.dir, { env: io.env }, flags))
      await withRegistry(io, options.dir, async registry => {
        await build(registry, { all: true })
        await buildPages(registry, { all: true })
        await commitToGit(io, registry)
      })
      io.err(
        `made a registry in ${options.dir}; start it with \`plimsoll serve --dir ${options.dir}\``,
      )
    })
}
