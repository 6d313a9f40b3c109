import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { buildCrate } from '../build/crate.ts'
import { buildPages } from '../pages/pages.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { setYanked } from '../store/catalog/yank.ts'
import { withRegistry } from './folder.ts'
import { commitToGit } from './git.ts'
import { type Io, withDir } from './io.ts'
import { parseSpec } from './release-spec.ts'

/** `yank NAME@VERSION [--undo]`. */
export function registerYank(program: Command, io: Io): void {
  withDir(program.command('yank'), io)
    .description('keep a version from being chosen anew; what is locked to it still builds')
    .argument('<name@version>')
    .option('--undo', 'take the yank back')
    .action((spec: string, options: { dir: string; undo?: boolean }) =>
      withRegistry(io, options.dir, async registry => {
        const { name, version } = parseSpec(spec)
        if (version === null) return refuse('release_spec_invalid', { spec })
        const change = operatorChange(timestamp(io.now()))
        const { crateId, changed } = await setYanked(
          registry.database,
          name,
          version,
          !options.undo,
          change,
        )
        await buildCrate(registry, crateId)
        await buildPages(registry)
        await commitToGit(io, registry)
        const verb = options.undo ? 'unyanked' : 'yanked'
        io.out(changed ? `${verb} ${name} ${version}` : `${name} ${version} was ${verb} before`)
      }),
    )
}
