import { refuse, refuseErrors } from '../../core/error/error.ts'
import { setYanked } from '../records/releases-changes.ts'
import { setDeprecated } from '../registry/changes/deprecation.ts'
import { showChanges } from './console/changes.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { parseSpec } from './console/release-spec.ts'

export const registerYank = registryCommand('yank', {
  about: 'yank a version: new lock files will not choose it, existing ones keep working',
  takes: {
    '<name@version>': 'the version to yank',
    '--undo': 'undo a yank',
    '--reason <text>': 'why, in one paragraph; also for a version that is yanked',
  },
  examples: {
    'plimsoll yank demo@1.0.0': 'yanks a version',
    'plimsoll yank demo@1.0.0 --reason "deletes files"': 'says why, too',
    'plimsoll yank demo@1.0.0 --undo': 'makes it available again',
  },
  json: 'an object: `name`, `version`; `yanked`; `changed`, false if it was so before',
  fails: 'there is no such version, or it could not be rendered',
  async run(task: RegistryTask<{ undo?: boolean; reason?: string }>, spec: string) {
    const { registry, options, change } = task
    const { name: spelling, version } = parseSpec(spec)
    if (version === null) return refuse('release_spec_invalid', { spec })
    const yanked = !options.undo
    const to = { yanked, reason: options.reason }
    const { name, changed } = await setYanked(registry, spelling, version, to, change)
    refuseErrors((await showChanges(task)).issues)
    const verb = options.undo ? 'unyanked' : 'yanked'
    task.report({ name, version, yanked, changed }, [
      changed ? `${verb} ${name} ${version}` : `${name} ${version} was ${verb} before`,
    ])
  },
})

export const registerDeprecate = registryCommand('deprecate', {
  about: 'say that a crate, or some of its versions, should not be used any more',
  takes: {
    '<name@requirement>':
      'the crate, and perhaps one version, such as `demo@1.0.0`, or those that a requirement fits',
    '--reason <text>': 'why, in one paragraph',
    '--use <other>': 'what to use instead: a crate or an https address',
    '--undo': 'take it back',
  },
  examples: {
    'plimsoll deprecate demo --reason "nobody maintains it" --use other': 'says it of all versions',
    'plimsoll deprecate "demo@<2" --reason "it is slow"': 'says it of some',
    'plimsoll deprecate demo@1.2.0 --reason "it hangs"': 'says it of one',
    'plimsoll deprecate demo --undo': 'takes it back',
  },
  json: 'an object: `spec`; `deprecated`; `changed`, false if it was so before',
  fails: 'there is no such crate, or it could not be rendered',
  async run(task: RegistryTask<{ reason?: string; use?: string; undo?: boolean }>, spec: string) {
    const { registry, options, change } = task
    const { reason, use = null, undo = false } = options
    const said = undo ? null : { reason: reason ?? refuse('reason_missing'), use }
    const changed = await setDeprecated(registry, spec, said, change)
    refuseErrors((await showChanges(task)).issues)
    const state = undo ? 'not deprecated' : 'deprecated'
    task.report({ spec, deprecated: !undo, changed }, [
      `${spec} is ${state}${changed ? '' : ', as before'}`,
    ])
  },
})
