import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { refuse } from '../../core/error/error.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { Queries } from '../database/statement.ts'
import type { CrateStore } from '../places/crate-store.ts'
import type { Progress } from '../projections/context.ts'
import {
  listTombstones,
  type ReleaseBytes,
  releasePages,
  storedReleases,
} from '../records/releases-stored.ts'
import type { Registry } from '../registry/registry.ts'

export interface CopiedCrates {
  /** All `.crate` files of the records; each was read from the copy and has its checksum. */
  readonly crateFiles: number
  /** Those of them that the copy did not have. */
  readonly copied: number
  /** The id of the last release whose file is there. */
  readonly last: number
}

/**
 * Copies every `.crate` that the records name to another crate store and reads it back from there;
 * goes on after a copy that was stopped. The registry may be served meanwhile; the next call copies
 * what was published since, or all without `before`. Refuses bytes that are lost. `show` shows
 * a copied release in a public tree.
 */
export async function migrateCrates(
  { crates, database }: Registry,
  to: CrateStore | null,
  show?: (release: ReleaseBytes) => Promise<void>,
  progress?: Progress,
  before: CopiedCrates | null = null,
): Promise<CopiedCrates> {
  if (to?.place.name === crates.place.name) refuse('migrate_crates_same', { place: to.place.name })
  // Later publishes are left out: they may come faster than this copies them.
  const { total, newest } = await storedReleases(database)
  let { crateFiles, copied, last } = before ?? { crateFiles: 0, copied: 0, last: 0 }
  for await (const page of releasePages(database, last, newest)) {
    await forEachConcurrently(page, async release => {
      if (to && (await copyCrate(crates, to, release))) copied++
      await show?.(release)
      crateFiles++
      progress?.('copying .crate files', crateFiles, total)
    })
    last = page.at(-1)?.id ?? last
  }
  return { crateFiles, copied, last }
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
  { name, version, cksum, size }: ReleaseBytes,
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
