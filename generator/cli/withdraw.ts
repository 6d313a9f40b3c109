import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { isName, type Name } from '../../core/name.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import { isVersion, type Version } from '../../core/version.ts'
import { operatorChange } from '../records/change.ts'
import { setYanked } from '../records/release-changes.ts'
import { type DeletionPlan, deleteReleases, planDeletion } from '../registry/delete.ts'
import { showChanges } from './changes.ts'
import { readRegistry, withRegistry } from './console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from './console/io.ts'
import { withManual } from './console/manual.ts'

interface YankOptions extends FolderOptions {
  readonly undo?: boolean
  readonly json?: boolean
}

interface DeleteOptions extends FolderOptions {
  readonly yes?: boolean
  readonly force?: boolean
  readonly json?: boolean
}

const DEPENDENTS_NAMED = 3

/** `yank NAME@VERSION [--undo]`, and `delete NAME[@VERSION] --yes [--force]`. */
export function registerWithdraw(program: Command, io: Io): void {
  registerYank(program, io)
  registerDelete(program, io)
}

function registerYank(program: Command, io: Io): void {
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

function registerDelete(program: Command, io: Io): void {
  const command = withDir(program.command('delete'), io)
    .description(
      'delete a crate or a version permanently; unlike with `yank`, builds locked to it break',
    )
    .argument('<name[@version]>', 'a version, or a crate with all its versions')
    .option('--yes', 'really delete; otherwise only show what would be deleted')
    .option('--force', 'delete even if other crates depend on it')
    .action((spec: string, options: DeleteOptions) =>
      (options.yes ? withRegistry : readRegistry)(io, options, async registry => {
        const deletion = { ...parseSpec(spec), force: options.force ?? false }
        if (!options.yes) {
          const plan = await planDeletion(registry, deletion)
          report(io, options, result(plan, false), [
            ...versionLines(plan, 'would delete', 'would remove what is left of'),
            ...dependentLines(plan),
          ])
          refuse('delete_unconfirmed')
        }
        const change = operatorChange(timestamp(io.now()))
        const plan = await deleteReleases(registry, deletion, change)
        const { issues } = await showChanges(io, registry)
        report(
          io,
          options,
          result(plan, true),
          versionLines(plan, 'deleted', 'removed what was left of'),
        )
        refuseErrors(issues)
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll delete demo@1.1.0 --yes', 'deletes one version'],
      ['plimsoll delete demo --yes --force', 'deletes a crate that others depend on'],
    ],
    json: 'an object: `name`; `versions`, an array of texts; `unfinished`, an array of versions that were deleted before, of which bytes were left; `dependents`, an array of texts such as `other 1.0.0`; `deleted`',
    fails:
      'nothing was deleted: there is no such version, others depend on it, or --yes is missing; or the command says that something is left, and the next one removes it',
  })
}

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

/** Reads `NAME@VERSION`, or `NAME` alone, which means every version. */
function parseSpec(spec: string): { name: Name; version: Version | null } {
  const [name = '', ...rest] = spec.split('@')
  const version = rest.length > 0 ? rest.join('@') : null
  if (!isName(name) || (version !== null && !isVersion(version)))
    return refuse('release_spec_invalid', { spec })
  return { name, version }
}
