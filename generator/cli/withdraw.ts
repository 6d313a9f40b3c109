import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { isName, type Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { isVersion, type Version } from '../../core/version.ts'
import { deleteReleases, planDeletion } from '../delete.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { setYanked } from '../store/catalog/release-changes.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, type Io, withDir } from './io.ts'

/** `yank NAME@VERSION [--undo]`, and `delete NAME[@VERSION] --yes [--force]`. */
export function registerWithdraw(program: Command, io: Io): void {
  withDir(program.command('yank'), io)
    .description('yank a version: new lock files will not choose it, existing ones keep working')
    .argument('<name@version>')
    .option('--undo', 'undo a yank')
    .action((spec: string, options: FolderOptions & { undo?: boolean }) =>
      withRegistry(io, options, async registry => {
        const { name, version } = parseSpec(spec)
        if (version === null) return refuse('release_spec_invalid', { spec })
        const change = operatorChange(timestamp(io.now()))
        const yanked = !options.undo
        const { changed } = await setYanked(registry.database, name, version, yanked, change)
        refuseErrors((await showChanges(io, registry)).issues)
        const verb = options.undo ? 'unyanked' : 'yanked'
        io.out(changed ? `${verb} ${name} ${version}` : `${name} ${version} was ${verb} before`)
      }),
    )
  withDir(program.command('delete'), io)
    .description(
      'delete a crate or a version permanently; unlike with `yank`, builds locked to it break',
    )
    .argument('<name[@version]>')
    .option('--yes', 'really delete; otherwise only list what would be deleted')
    .option('--force', 'delete even if other crates depend on it')
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

/** Reads `NAME@VERSION`, or `NAME` alone, which means every version. */
function parseSpec(spec: string): { name: Name; version: Version | null } {
  const [name = '', ...rest] = spec.split('@')
  const version = rest.length > 0 ? rest.join('@') : null
  if (!isName(name) || (version !== null && !isVersion(version)))
    return refuse('release_spec_invalid', { spec })
  return { name, version }
}
