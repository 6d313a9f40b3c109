import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { setYanked } from '../store/catalog/yank.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import { type FolderOptions, type Io, withDir } from './io.ts'
import { parseSpec } from './release-spec.ts'

/** `yank NAME@VERSION [--undo]`. */
export function registerYank(program: Command, io: Io): void {
  withDir(program.command('yank'), io)
    .description('yank a version: new lock files do not choose it, existing ones still build')
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
}
