import { refuse, refuseErrors } from '../../core/error/error.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import { type DeletionPlan, deleteReleases, planDeletion } from '../registry/changes/delete.ts'
import { showChanges } from './console/changes.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { lineOfText } from './console/io.ts'
import { parseSpec } from './console/release-spec.ts'

const DEPENDENTS_NAMED = 3

export const registerDelete = registryCommand('delete', {
  about: 'delete a crate or a version permanently; unlike with `yank`, builds locked to it break',
  takes: {
    '<name[@version]>': 'a version, or a crate with all its versions',
    '--yes': 'really delete; otherwise only show what would be deleted',
    '--force': 'delete even if other crates depend on it',
    '--reason <text>': {
      about: 'what Cargo shows to those who download or publish it again',
      parse: lineOfText,
    },
  },
  examples: {
    'plimsoll delete demo@1.1.0 --yes --reason "it contained a key"':
      'deletes one version, and Cargo says why',
    'plimsoll delete demo --yes --force': 'deletes a crate that others depend on',
  },
  json: 'an object: `name`; `versions`, an array of texts; `unfinished`, an array of versions that were deleted before, of which bytes were left; `dependents`, an array of texts such as `other 1.0.0`; `deleted`',
  fails:
    'nothing was deleted: there is no such version, others depend on it, or --yes is missing; or the command says that something is left, and the next one removes it',
  reads: ({ yes }) => !yes,
  async run(task: RegistryTask<{ yes?: boolean; force?: boolean; reason?: string }>, spec: string) {
    const { registry, options, change, report } = task
    const { yes, force = false, reason } = options
    const deletion = { ...parseSpec(spec), force, reason }
    if (!yes) {
      const plan = await planDeletion(registry, deletion)
      report(result(plan, false), [
        ...versionLines(plan, 'would delete', 'would remove what is left of'),
        ...dependentLines(plan),
      ])
      refuse('delete_unconfirmed')
    }
    const plan = await deleteReleases(registry, deletion, change)
    const { issues } = await showChanges(task)
    report(result(plan, true), versionLines(plan, 'deleted', 'removed what was left of'))
    refuseErrors(issues)
  },
})

function result({ crate, releases, unfinished, dependents }: DeletionPlan, deleted: boolean) {
  const [versions, left] = [releases, unfinished].map(all => all.map(release => release.version))
  return { name: crate.name, versions, unfinished: left, dependents, deleted }
}

function versionLines(
  { crate, releases, unfinished }: DeletionPlan,
  verb: string,
  verbAgain: string,
): string[] {
  return [
    ...releases.map(release => `${verb} ${crate.name} ${release.version}`),
    ...unfinished.map(tombstone => `${verbAgain} ${crate.name} ${tombstone.version}`),
  ]
}

/** Returns for example `other crates depend on it (70 versions of 42 crates): a, b, c and 39 more`. */
function dependentLines({ dependents }: DeletionPlan): string[] {
  if (dependents.length === 0) return []
  const crates = [...new Set(dependents.map(dependent => dependent.replace(/ .*/, '')))]
  const more = crates.length - DEPENDENTS_NAMED
  const names = crates.slice(0, DEPENDENTS_NAMED).join(', ')
  const count = `${counted(dependents.length, 'version')} of ${counted(crates.length, 'crate')}`
  return [
    `other crates depend on it (${count}): ${names}${more > 0 ? ` and ${formatNumber(more)} more` : ''}`,
  ]
}
