import { join } from 'node:path'
import { statOf } from '../places/disk/files.ts'
import {
  type AdvisoryChange,
  advisoryChanges,
  keepAdvisories,
} from '../records/advisories/change.ts'
import type { Change } from '../records/change.ts'
import type { Records } from '../records/crate-change.ts'
import { readPause } from '../records/pause.ts'
import { readValue } from '../records/values.ts'
import type { Registry } from '../registry/registry.ts'
import { type AdvisoriesRead, readAdvisories } from './read.ts'

/** The key of the value that says that an update has replaced what `advisories.from` names. */
export const UPDATED = 'advisories_updated'

/** What differs from the records, and why some files are no advisories. */
export interface AdvisoryUpdate extends Pick<AdvisoriesRead, 'issues'> {
  readonly changes: readonly AdvisoryChange[]
}

/**
 * Reads `advisories/` below a folder, and `given` instead of what the records have from elsewhere
 * (null leaves that). Changes nothing yet: `keepAdvisories` does. Where daemons share the records,
 * a folder without `advisories/` leaves those that another one has brought.
 */
export async function readUpdate(
  { database, isShared = false }: Pick<Records, 'database'> & { readonly isShared?: boolean },
  folder: string,
  given: readonly string[] | null,
): Promise<AdvisoryUpdate> {
  const path = join(folder, 'advisories')
  const isThere = (await statOf(path)) !== null
  const own = await readAdvisories(isThere ? [path] : [], 'own')
  const others = await readAdvisories(given ?? [], 'given')
  const replaced = [
    ...(isThere || !isShared ? (['own'] as const) : []),
    ...(given ? (['given'] as const) : []),
  ]
  const changes = await advisoryChanges(database, [...own.kept, ...others.kept], replaced)
  return { changes, issues: [...own.issues, ...others.issues] }
}

/**
 * Takes `advisories/` as it is now, and what `advisories.from` names unless an update has replaced
 * that, as every start and build does; nothing in a pause. Returns why files were left out.
 */
export async function takeAdvisories(
  registry: Registry,
  change: Change,
): Promise<AdvisoryUpdate['issues']> {
  if (await readPause(registry.database)) return []
  const isUpdated = (await readValue(registry.database, UPDATED)) !== null
  const given = isUpdated ? null : registry.settings.advisories.from
  const { changes, issues } = await readUpdate(registry, registry.dir, given)
  await keepAdvisories(registry, changes, registry.urls.own, change)
  return issues
}
