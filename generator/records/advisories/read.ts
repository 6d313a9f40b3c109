// generator/records/advisories: Known holes in the records. Pages, publishes and upstreams ask it; it
// reads no file.
import { type Advisory, covers, isAbout } from '../../../core/advisory/advisory.ts'
import { canonicalName } from '../../../core/name.ts'
import { column, LIST, type Queries } from '../../database/statement.ts'
import type { CrateRecord } from '../crates.ts'
import { listIdentities } from '../releases.ts'

/** The index URLs of one registry: a package of another one is another package. */
export type Origin = Iterable<string>

/**
 * Returns what is known of a crate of the registry with these index URLs, in the order of ids:
 * `urls.own` for own crates, `[CRATES_IO]` or the `index` of another upstream. Use `covers` for a
 * version. Its cost grows only with the advisories on crates of this name.
 */
export async function advisoriesOf(db: Queries, name: string, origin: Origin): Promise<Advisory[]> {
  const sql = `SELECT content FROM advisory_crates JOIN advisories ON advisories.id = advisory_id
    WHERE crate = ? AND content <> '' ORDER BY name`
  const contents = await column<string>(db, sql, canonicalName(name))
  return contents
    .flatMap(content => JSON.parse(content) as Advisory[])
    .filter(advisory => isAbout(advisory, name, origin))
}

/** Returns the advisories on an own crate that cover at least one of its versions. */
export async function advisoriesOn(
  db: Queries,
  { id, name }: Pick<CrateRecord, 'id' | 'name'>,
  own: Origin,
): Promise<Advisory[]> {
  const about = await advisoriesOf(db, name, own)
  const versions = about.length === 0 ? [] : await listIdentities(db, id)
  return about.filter(advisory => versions.some(({ version }) => covers(advisory, version)))
}

/** Returns the advisories with these numbers, each with all of its packages. */
export async function readAdvisories(db: Queries, ids: readonly number[]): Promise<Advisory[]> {
  const sql = `SELECT content FROM advisories WHERE id IN ${LIST} AND content <> '' ORDER BY name`
  return (await column<string>(db, sql, ids)).flatMap(content => JSON.parse(content) as Advisory[])
}
