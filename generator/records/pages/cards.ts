// generator/records/pages: What pages and the API read of the records. They alone call it; it never
// changes a row.

import type { About } from '../../../core/manifest/manifest.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import type { Deprecation } from '../../../core/notes/notes.ts'
import type { Version } from '../../../core/version.ts'
import { all, first, LIST, type Queries } from '../../database/statement.ts'
import type { CrateRecord } from '../crates.ts'
import { recordOf, type Stored } from '../releases.ts'
import { CARDS, DISCOURAGED, PAGE_CRATE } from '../releases-view.ts'

/** A crate as shown in lists, with the metadata of its newest version. */
export interface CrateCard extends CrateRecord {
  /** Null when no times are known. */
  readonly updatedAt: string | null
  readonly versions: number
  /** Whether all of them are yanked. */
  readonly yanked: boolean
  readonly newestId: number
  readonly newest: Version
  /** The last published version that is not yanked. */
  readonly latest: Version
  /** The highest version that is neither yanked nor a pre-release. */
  readonly stable: Version | null
  /** The highest version that is not yanked, pre-releases included; the highest when all are. */
  readonly highest: Version
  readonly about: About
  /** What is said of the newest version. */
  readonly deprecation: Deprecation | null
  /** The number of crates whose newest version depends on it. */
  readonly dependents: number
  readonly bytes: number
  /** 1 if its versions come from CI only. */
  readonly trustedOnly: 0 | 1
}

/** Returns the cards that the rest of a statement on `crates` and `listings` selects and orders. */
export async function selectCards(
  db: Queries,
  rest: string,
  ...parameters: (string | number | readonly (string | number)[])[]
): Promise<CrateCard[]> {
  const rows = await all<Stored<CrateCard>>(db, `${CARDS} ${rest}`, ...parameters)
  return rows.map(row => recordOf(row, row.newest))
}

/** Finds a crate's card by name; null when there is no such crate, or it has no versions. */
export async function findCard(db: Queries, name: Name): Promise<CrateCard | null> {
  return (await selectCards(db, 'WHERE crates.canonical = ?', canonicalName(name)))[0] ?? null
}

/** Returns the cards of crates in the order of `ids`. */
export async function readCards(db: Queries, ids: readonly number[]): Promise<CrateCard[]> {
  if (ids.length === 0) return []
  const selected = await selectCards(db, `WHERE crates.id IN ${LIST}`, ids)
  const cards = new Map(selected.map(card => [card.id, card]))
  return ids.flatMap(id => cards.get(id) ?? [])
}

/** Returns whether a card is of the crate with this name. */
export function isNamed({ name }: CrateCard, canonical: CanonicalName): boolean {
  return canonicalName(name) === canonical
}

/** A crate as its page shows it, besides its releases. */
export interface PageCrate extends CrateRecord {
  readonly dependents: number
  readonly hasDownloads: 0 | 1
  /** The newest release, and its README; null while there is none. */
  readonly newestId: number | null
  readonly readme: string | null
  /** The generation of its mark; null if it has none, or if it failed before. */
  readonly newestMark: number | null
}

/** Reads a crate for its page; null when there is none. */
export function readPageCrate(db: Queries, id: number): Promise<PageCrate | null> {
  return first(db, PAGE_CRATE, id)
}

/** Returns the cards of crates with yanked or deprecated versions. */
export function discouragedCards(
  db: Queries,
  names: readonly CanonicalName[],
): Promise<CrateCard[]> {
  return selectCards(db, DISCOURAGED, names)
}
