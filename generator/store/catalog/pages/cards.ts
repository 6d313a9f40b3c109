import type { About } from '../../../../core/manifest/manifest.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import type { Queries } from '../change.ts'

/** A crate as lists show it: with what its newest version says. */
export interface CrateCard {
  readonly id: number
  readonly name: Name
  readonly createdAt: string
  readonly updatedAt: string
  /** How many versions there are. */
  readonly versions: number
  /** Whether all of them are yanked. */
  readonly yanked: boolean
  readonly newestId: number
  readonly newest: Version
  /** The unyanked version that was published last. */
  readonly latest: Version
  /** The highest unyanked version that is no pre-release. */
  readonly stable: Version | null
  readonly about: About
}

/** The card of the crate that a name means; null when there is none, or one without versions. */
export async function findCard(db: Queries, name: Name): Promise<CrateCard | null> {
  const row = await selectCards(db)
    .where('crates.canonical', '=', canonicalName(name))
    .executeTakeFirst()
  return row ? card(row) : null
}

/** The cards of crates, in the order of their ids in `ids`. */
export async function readCards(db: Queries, ids: readonly number[]): Promise<CrateCard[]> {
  if (ids.length === 0) return []
  const rows = await selectCards(db).where('crates.id', 'in', ids).execute()
  const cards = new Map(rows.map(row => [row.id, card(row)]))
  return ids.flatMap(id => cards.get(id) ?? [])
}

/** Whether a card is of the crate that a name means. */
export function isNamed(one: CrateCard, canonical: CanonicalName): boolean {
  return canonicalName(one.name) === canonical
}

function selectCards(db: Queries) {
  return db
    .selectFrom('crates')
    .innerJoin('listings', 'listings.crate_id', 'crates.id')
    .innerJoin('releases as newest', 'newest.id', 'listings.newest_id')
    .innerJoin('releases as latest', 'latest.id', 'listings.latest_id')
    .leftJoin('releases as stable', 'stable.id', 'listings.stable_id')
    .select([
      'crates.id',
      'crates.name',
      'crates.created_at',
      'listings.updated_at',
      'listings.versions',
    ])
    .select([
      'listings.yanked',
      'newest.id as newest_id',
      'newest.version as newest',
      'newest.about',
    ])
    .select(['latest.version as latest', 'stable.version as stable'])
}

type CardRow = Awaited<ReturnType<ReturnType<typeof selectCards>['executeTakeFirstOrThrow']>>

function card(row: CardRow): CrateCard {
  return {
    id: row.id,
    name: row.name as Name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    versions: row.versions,
    yanked: row.yanked === 1,
    newestId: row.newest_id,
    newest: row.newest as Version,
    latest: row.latest as Version,
    stable: row.stable as Version | null,
    about: JSON.parse(row.about) as About,
  }
}
