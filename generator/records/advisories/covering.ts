import { type Advisory, covers } from '../../../core/advisory/advisory.ts'
import type { CanonicalName } from '../../../core/name.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import { all, type Queries } from '../../database/statement.ts'
import { listIdentities } from '../releases.ts'
import { ADVISED } from '../releases-view.ts'
import { advisoriesIn, advisoriesOf, type Origin } from './read.ts'

/** Returns the advisories on an own crate that cover at least one of its versions. */
export async function advisoriesOn(
  db: Queries,
  { id, name }: { readonly id: number; readonly name: string },
  own: Origin,
): Promise<Advisory[]> {
  const about = await advisoriesOf(db, name, own)
  const versions = about.length === 0 ? [] : await listIdentities(db, id)
  return about.filter(advisory => versions.some(({ version }) => covers(advisory, version)))
}

/** What is known of the crates of a name, in any registry. */
export interface AdvisedCrates {
  readonly advisories: readonly Advisory[]
  /** Those of the own crate that are not yanked, the highest first. */
  readonly versions: readonly Version[]
}

/** Returns what is known of those of some names that advisories are about, in one statement. */
export async function advisedCrates(
  db: Queries,
  names: readonly CanonicalName[],
): Promise<ReadonlyMap<CanonicalName, AdvisedCrates>> {
  type Found = Record<'contents' | 'versions', string | null> & { readonly crate: CanonicalName }
  const rows = await all<Found>(db, ADVISED, names)
  return new Map(
    rows.map(({ crate, contents, versions }) => {
      const advisories = (JSON.parse(contents ?? '[]') as string[]).flatMap(advisoriesIn)
      const known = JSON.parse(versions ?? '[]') as Version[]
      return [crate, { advisories, versions: known.sort((a, b) => compareVersions(b, a)) }]
    }),
  )
}
