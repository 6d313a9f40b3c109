import type { Kysely, Transaction } from 'kysely'
import type { About } from '../../../core/manifest/manifest.ts'
import type { CanonicalName, Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { MarkKind, Tables } from '../database/database.ts'

/** A crate of the catalog. `generation` grows with every change of it. */
export interface CrateRecord {
  readonly id: number
  readonly name: Name
  readonly createdAt: string
  readonly generation: number
}

/** A release of the catalog; `line` is its index line as published, without the line end. */
export interface ReleaseRecord {
  readonly id: number
  readonly version: Version
  readonly cksum: string
  readonly size: number
  readonly yanked: boolean
  readonly line: string
  readonly about: About
  readonly publishedAt: string | null
  readonly publishedBy: string | null
  readonly publisherId: number | null
}

/** Who changes the catalog, and when (RFC 3339, UTC, whole seconds). The operator at the command line has no user. */
export interface Change {
  readonly at: string
  readonly actor: string
  readonly user: { readonly id: number; readonly admin: boolean } | null
  readonly tokenId: number | null
  /** Where the request came from, for changes over the web. */
  readonly address?: string | null
}

/** A piece of pending work: what has changed since it was last rendered. */
export interface Mark {
  readonly kind: MarkKind
  readonly subject: number
  readonly generation: number
}

/** The database, or a transaction of it. */
export type Queries = Kysely<Tables> | Transaction<Tables>

export async function findCrate(
  tx: Queries,
  canonical: CanonicalName,
): Promise<CrateRecord | null> {
  const row = await tx
    .selectFrom('crates')
    .selectAll()
    .where('canonical', '=', canonical)
    .executeTakeFirst()
  return row ? crateRecord(row) : null
}

export function crateRecord(row: {
  id: number
  name: string
  created_at: string
  generation: number
}): CrateRecord {
  return {
    id: row.id,
    name: row.name as Name,
    createdAt: row.created_at,
    generation: row.generation,
  }
}

export function selectReleases(tx: Queries, crateId: number) {
  return tx
    .selectFrom('releases')
    .leftJoin('users', 'users.id', 'releases.published_by')
    .select([
      'releases.id',
      'releases.version',
      'releases.cksum',
      'releases.size',
      'releases.yanked',
      'releases.line',
      'releases.about',
      'releases.published_at',
      'releases.published_by',
      'users.login',
    ])
    .where('releases.crate_id', '=', crateId)
}

type ReleaseRow = Awaited<ReturnType<ReturnType<typeof selectReleases>['executeTakeFirstOrThrow']>>

export function releaseRecord(row: ReleaseRow): ReleaseRecord {
  return {
    id: row.id,
    version: row.version as Version,
    cksum: row.cksum,
    size: row.size,
    yanked: row.yanked === 1,
    line: row.line,
    about: JSON.parse(row.about) as About,
    publishedAt: row.published_at,
    publishedBy: row.login,
    publisherId: row.published_by,
  }
}

export async function findTwin(tx: Queries, crateId: number, version: Version) {
  return tx
    .selectFrom('releases')
    .select(['id', 'version', 'cksum', 'yanked', 'line'])
    .where('crate_id', '=', crateId)
    .where('identity', '=', versionIdentity(version))
    .executeTakeFirst()
}

/** Whether a user owns a crate. */
export async function ownsCrate(tx: Queries, crateId: number, userId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('owners')
    .select('user_id')
    .where('crate_id', '=', crateId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}
