import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { operatorChange } from '../records/change.ts'
import { setYanked } from '../records/release-changes.ts'
import { showChanges } from './console/changes.ts'
import { withRegistry } from './console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from './console/io.ts'
import { withManual } from './console/manual.ts'
import { parseSpec } from './release-spec.ts'

interface YankOptions extends FolderOptions {
  readonly undo?: boolean
  readonly json?: boolean
}

/** `yank NAME@VERSION [--undo]`. */
export function registerYank(program: Command, io: Io): void {
  const command = withDir(program.command('yank'), io)
    .description('yank a version: new lock files will not choose it, existing ones keep working')
    .argument('<name@version>', 'the version to yank')
    .option('--undo', 'undo a yank')
    .action((spec: string, options: YankOptions) =>
      withRegistry(io, options, async registry => {
        const { name, version } = parseSpec(spec)
        if (version === null) return refuse('release_spec_invalid', { spec })
        const change = operatorChange(timestamp(io.now()))
        const yanked = !options.undo
        const { changed } = await setYanked(registry, name, version, yanked, change)
        refuseErrors((await showChanges(io, registry)).issues)
        const verb = options.undo ? 'unyanked' : 'yanked'
        report(io, options, { name, version, yanked, changed }, [
          changed ? `${verb} ${name} ${version}` : `${name} ${version} was ${verb} before`,
        ])
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll yank demo@1.0.0', 'yanks a version'],
      ['plimsoll yank demo@1.0.0 --undo', 'makes it available again'],
    ],
    json: 'an object: `name`, `version`; `yanked`; `changed`, false if it was so before',
    fails: 'there is no such version, or it could not be rendered',
  })
}
