import { refuse, refuseErrors } from '../../core/error/error.ts'
import { setYanked } from '../records/releases-changes.ts'
import { showChanges } from './console/changes.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { parseSpec } from './console/release-spec.ts'

export const registerYank = registryCommand('yank', {
  about: 'yank a version: new lock files will not choose it, existing ones keep working',
  takes: { '<name@version>': 'the version to yank', '--undo': 'undo a yank' },
  examples: {
    'plimsoll yank demo@1.0.0': 'yanks a version',
    'plimsoll yank demo@1.0.0 --undo': 'makes it available again',
  },
  json: 'an object: `name`, `version`; `yanked`; `changed`, false if it was so before',
  fails: 'there is no such version, or it could not be rendered',
  async run(task: RegistryTask<{ undo?: boolean }>, spec: string) {
    const { registry, options, change } = task
    const { name: spelling, version } = parseSpec(spec)
    if (version === null) return refuse('release_spec_invalid', { spec })
    const yanked = !options.undo
    const { name, changed } = await setYanked(registry, spelling, version, yanked, change)
    refuseErrors((await showChanges(task)).issues)
    const verb = options.undo ? 'unyanked' : 'yanked'
    task.report({ name, version, yanked, changed }, [
      changed ? `${verb} ${name} ${version}` : `${name} ${version} was ${verb} before`,
    ])
  },
})
