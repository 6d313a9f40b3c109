import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { refuse } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { Version } from '../../core/version.ts'
import { all, type Queries, value } from '../database/statement.ts'
import type { CrateStore } from '../places/crate-store.ts'
import type { Progress } from '../projections/index/build.ts'
import { listTombstones } from '../records/tombstones.ts'
import type { Registry } from '../registry/registry.ts'

/** What a copy of the crate store did. */
export interface CopiedCrates {
  /** All `.crate` files of the records; each was read from the copy and has its checksum. */
  readonly crateFiles: number
  /** Those of them that the copy did not have. */
  readonly copied: number
  /** The id of the last release whose file is there. */
  readonly last: number
}

/** A release, as far as its bytes are concerned. */
export interface StoredRelease {
  readonly id: number
  readonly name: Name
  readonly version: Version
  readonly cksum: string
  readonly size: number
}

/** Where `.crate` files are copied to. */
export interface CrateTargets {
  /** Null: they stay in the crate store where they are. */
  readonly crates: CrateStore | null
  /** Shows the one of a release in a public tree, whose crate store has it. */
  readonly show?: ((release: StoredRelease) => Promise<void>) | undefined
}

/**
 * Copies every `.crate` that the records name to another crate store and reads it back from there.
 * What is there already is only read, so a copy that was stopped goes on. The registry may be
 * served meanwhile; the next call copies what was published since, or all without `before`.
 * Refuses bytes that are lost.
 */
export async function migrateCrates(
  { crates, database }: Registry,
  { crates: to, show }: CrateTargets,
  progress?: Progress,
  before: CopiedCrates | null = null,
): Promise<CopiedCrates> {
  if (to?.place.name === crates.place.name) refuse('migrate_crates_same', { place: to.place.name })
  const total = (await value<number>(database, 'SELECT count(*) FROM releases')) ?? 0
  // Not what is published from now on: that may come faster than it can be copied.
  const newest = (await value<number>(database, 'SELECT max(id) FROM releases')) ?? 0
  const sql = `SELECT releases.id, crates.name, version, cksum, size
    FROM releases JOIN crates ON crates.id = crate_id
    WHERE releases.id > ? AND releases.id <= ? ORDER BY releases.id LIMIT 500`
  let { crateFiles, copied, last } = before ?? { crateFiles: 0, copied: 0, last: 0 }
  for (;;) {
    const rows = await all<StoredRelease>(database, sql, last, newest)
    await forEachConcurrently(rows, async row => {
      if (to && (await copyCrate(crates, to, row))) copied++
      await show?.(row)
      crateFiles++
      progress?.('copying .crate files', crateFiles, total)
    })
    const end = rows.at(-1)
    if (!end) return { crateFiles, copied, last }
    last = end.id
  }
}

/**
 * Sets aside in a copy of the crate store what was deleted after it had been copied. Nothing is
 * removed: with older records than the copy, these may be bytes of a version that came back.
 */
export async function setDeletedAside(db: Queries, copy: CrateStore): Promise<void> {
  await forEachConcurrently(await listTombstones(db), async ({ name, cksum }) => {
    const key = crateKey(name, cksum)
    if ((await copy.size(key)) !== null) await copy.setAside(key)
  })
}

/** Copies a `.crate` unless it is there; returns whether it was not. */
async function copyCrate(
  from: CrateStore,
  to: CrateStore,
  { name, version, cksum, size }: StoredRelease,
): Promise<boolean> {
  const key = crateKey(name, cksum)
  const isThere = async () => (await to.size(key)) === size && (await to.checksum(key)) === cksum
  if (await isThere()) return false
  const open = await from.open(key)
  if (!open) return refuse('crate_lost', { name, version })
  const staged = await to.stage(open.bytes, size)
  try {
    if (staged.cksum !== cksum) refuse('crate_lost', { name, version })
    await staged.keep(key)
  } finally {
    await staged.discard()
  }
  if (!(await isThere())) refuse('migrate_crate_differs', { name, version, place: to.place.name })
  return true
}
