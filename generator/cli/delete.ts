import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { deleteReleases, planDeletion } from '../delete.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, type Io, withDir } from './io.ts'
import { parseSpec } from './release-spec.ts'

/** `delete NAME[@VERSION] --yes [--force]`: for good, unlike a yank. */
export function registerDelete(program: Command, io: Io): void {
  withDir(program.command('delete'), io)
    .description(
      'delete a crate or a version for good; builds that are locked to it break, unlike with `yank`',
    )
    .argument('<name[@version]>')
    .option('--yes', 'delete; without it, only list what would be deleted')
    .option('--force', 'delete although other crates depend on it')
    .action((spec: string, options: FolderOptions & { yes?: boolean; force?: boolean }) =>
      withRegistry(io, options, async registry => {
        const deletion = { ...parseSpec(spec), force: options.force ?? false }
        if (!options.yes) {
          const { crate, releases, dependents } = await planDeletion(registry, deletion)
          for (const one of releases) io.out(`would delete ${crate.name} ${one.version}`)
          for (const one of dependents) io.out(`is needed by ${one}`)
          refuse('delete_unconfirmed')
        }
        const change = operatorChange(timestamp(io.now()))
        const { crate, releases } = await deleteReleases(registry, deletion, change)
        const { issues } = await showChanges(io, registry)
        for (const one of releases) io.out(`deleted ${crate.name} ${one.version}`)
        refuseErrors(issues)
      }),
    )
}
