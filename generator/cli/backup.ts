import type { Command } from 'commander'
import { backup, restore } from '../backup/backup.ts'
import { build } from '../build/build.ts'
import { buildPages } from '../pages/pages.ts'
import { withRegistry } from './folder.ts'
import { commitToGit } from './git.ts'
import { type Io, progressLine, run, withDir } from './io.ts'

/** `backup FILE` and `restore FILE`: everything that cannot be derived, in one tar file. */
export function registerBackup(program: Command, io: Io): void {
  withDir(program.command('backup'), io)
    .description(
      'write settings, records and .crate files into one tar file; works beside a running daemon',
    )
    .argument('<file>')
    .action((file: string, options: { dir: string }) =>
      withRegistry(io, options.dir, async registry => {
        const progress = progressLine(io, 'packing .crate')
        const count = await backup(registry, file, progress.at)
        progress.done()
        io.out(
          `${file} holds the registry with its ${count} .crate files; it also holds what tokens are checked against`,
        )
      }),
    )
  withDir(program.command('restore'), io)
    .description('make a registry folder from a backup')
    .argument('<file>')
    .action(async (file: string, options: { dir: string }) => {
      await run(io, async () => {
        const count = await restore(file, options.dir)
        io.out(`restored ${count} .crate files`)
      })
      await withRegistry(io, options.dir, async registry => {
        const progress = progressLine(io, 'rendering crate')
        await build(registry, { all: true, progress: progress.at })
        await buildPages(registry, { all: true, progress: progress.at })
        await commitToGit(io, registry)
        progress.done()
        io.out(
          `the registry is in ${options.dir}; \`plimsoll verify --dir ${options.dir}\` holds it against itself`,
        )
      })
    })
}
