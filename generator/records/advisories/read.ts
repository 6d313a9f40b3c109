// generator/records/advisories: Known holes in the records. Pages, publishes and upstreams ask it;
// it reads no file.
import { type Advisory, covers, isAbout } from '../../../core/advisory/advisory.ts'
import { type CanonicalName, canonicalName } from '../../../core/name.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import { all, column, first, type Queries } from '../../database/statement.ts'
import { listIdentities } from '../releases.ts'
import { ADVISED } from '../releases-view.ts'

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
  return contents.flatMap(advisoriesIn).filter(advisory => isAbout(advisory, name, origin))
}

/** The kind of the marks of advisories; that of `SITE` is about the list of all. */
export const ADVISORY = 'advisory'

/** Returns the advisory in a `content` for each of its packages. */
export function advisoriesIn(content: string): Advisory[] {
  return content === '' ? [] : JSON.parse(content)
}

/** Returns an advisory by its number, with all of its packages: none of one that is gone. */
export async function readAdvisory(db: Queries, id: number) {
  const sql = 'SELECT name, content FROM advisories WHERE id = ?'
  const row = await first<{ name: string; content: string }>(db, sql, id)
  return row && { name: row.name, advisories: advisoriesIn(row.content) }
}

/** Returns all advisories without descriptions, in the order of ids; reads 1,000 at a time. */
export async function listAdvisories(db: Queries): Promise<Advisory[]> {
  const sql = `SELECT name, content FROM advisories WHERE content <> '' AND name > ?
    ORDER BY name LIMIT 1000`
  const listed: Advisory[] = []
  for (let after = ''; ; ) {
    const rows = await all<{ name: string; content: string }>(db, sql, after)
    for (const advisory of rows.flatMap(({ content }) => advisoriesIn(content)))
      listed.push({ ...advisory, description: '' })
    const last = rows.at(-1)
    if (!last) return listed
    after = last.name
  }
}

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
      const identities = JSON.parse(versions ?? '[]') as Version[]
      return [crate, { advisories, versions: identities.sort((a, b) => compareVersions(b, a)) }]
    }),
  )
}
