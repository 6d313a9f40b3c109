import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { deleteReleases, findDoomed } from '../delete.ts'
import { buildPages } from '../pages/pages.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { withRegistry } from './folder.ts'
import { commitToGit } from './git.ts'
import { type Io, withDir } from './io.ts'
import { parseSpec } from './release-spec.ts'

/** `delete NAME[@VERSION] --yes [--force]`: for good, unlike a yank. */
export function registerDelete(program: Command, io: Io): void {
  withDir(program.command('delete'), io)
    .description(
      'delete a crate, or one version, for good; builds locked to it break (see `yank` for the mild way)',
    )
    .argument('<name[@version]>')
    .option('--yes', 'really do it; without it, only say what would go')
    .option('--force', 'also when other crates depend on it')
    .action((spec: string, options: { dir: string; yes?: boolean; force?: boolean }) =>
      withRegistry(io, options.dir, async registry => {
        const deletion = { ...parseSpec(spec), force: options.force ?? false }
        if (!options.yes) {
          const { crate, releases, dependents } = await findDoomed(registry, deletion)
          for (const one of releases) io.out(`would delete ${crate.name} ${one.version}`)
          for (const one of dependents) io.out(`is needed by ${one}`)
          refuse('delete_unconfirmed')
        }
        const change = operatorChange(timestamp(io.now()))
        const { crate, releases } = await deleteReleases(registry, deletion, change)
        await buildPages(registry)
        await commitToGit(io, registry)
        for (const one of releases) io.out(`deleted ${crate.name} ${one.version}`)
      }),
    )
}
