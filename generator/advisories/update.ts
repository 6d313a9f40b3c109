import { join } from 'node:path'
import { statOf } from '../places/disk/files.ts'
import { type AdvisoryChange, advisoryChanges } from '../records/advisories/change.ts'
import type { Records } from '../records/crate-change.ts'
import { type AdvisoriesRead, readAdvisories } from './read.ts'

/** The folder below that of a registry, or of a static build, which has its own advisories. */
export const OWN_ADVISORIES = 'advisories'

/** A state of the advisories, before it is kept. */
export interface AdvisoryUpdate extends Pick<AdvisoriesRead, 'issues'> {
  /** What differs from the records. */
  readonly changes: readonly AdvisoryChange[]
}

/**
 * Reads `advisories/` below a folder, which need not be there, and `given` instead of what the
 * records have from elsewhere (null leaves that). Changes nothing yet; `keepAdvisories` does.
 */
export async function readUpdate(
  { database }: Pick<Records, 'database'>,
  folder: string,
  given: readonly string[] | null,
): Promise<AdvisoryUpdate> {
  const path = join(folder, OWN_ADVISORIES)
  const own = await readAdvisories((await statOf(path)) ? [path] : [], 'own')
  const others = given && (await readAdvisories(given, 'given'))
  const wanted = [...own.kept, ...(others?.kept ?? [])]
  const replaced = others ? (['own', 'given'] as const) : (['own'] as const)
  const changes = await advisoryChanges(database, wanted, replaced)
  return { changes, issues: [...own.issues, ...(others?.issues ?? [])] }
}
