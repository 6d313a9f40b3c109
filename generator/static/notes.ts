import { canonicalName } from '../../core/name.ts'
import { deprecatedItem, parseDeprecated } from '../../core/notes/notes.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { all } from '../database/statement.ts'
import { operatorChange } from '../records/change.ts'
import type { Records } from '../records/crate-change.ts'
import { setYanked } from '../records/releases-changes.ts'
import { setDeprecated } from '../registry/changes/deprecation.ts'
import type { StaticRelease } from './releases.ts'

/** Says in the records why releases are yanked, and what the settings call deprecated. */
export async function applyNotes(
  records: Records,
  releases: readonly Pick<StaticRelease, 'name' | 'version' | 'yankReason'>[],
  { deprecated }: Pick<Settings, 'deprecated'>,
): Promise<void> {
  // Times are unknown: a `.crate` does not contain them.
  const change = operatorChange('')
  for (const { name, version, yankReason: reason } of releases)
    if (reason !== undefined) await setYanked(records, name, version, { reason }, change)
  const crates = new Set(releases.map(({ name }) => canonicalName(name)))
  const keyOf = (name: string, requirement: string) => `${canonicalName(name)}@${requirement}`
  // Of a crate that is not among the files, `StaticReleases` says so.
  const wanted = new Map(
    deprecated.flatMap(text => {
      const item = deprecatedItem(text)
      const { name, requirement } = parseDeprecated(item?.crate ?? '')
      return item && crates.has(canonicalName(name)) ? [[keyOf(name, requirement), item]] : []
    }),
  )
  const sql = 'SELECT name, requirement FROM deprecations JOIN crates ON crates.id = crate_id'
  type Said = { readonly name: string; readonly requirement: string }
  for (const { name, requirement } of await all<Said>(records.database, sql))
    if (!wanted.has(keyOf(name, requirement)))
      await setDeprecated(records, `${name}@${requirement}`, null, change)
  for (const { crate, ...said } of wanted.values())
    await setDeprecated(records, crate, said, change)
}
