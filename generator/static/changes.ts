import { canonicalName } from '../../core/name.ts'
import { idsOf } from '../../core/search/ids.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { type Queries, run } from '../database/statement.ts'
import { operatorChange } from '../records/change.ts'
import { type Records, tellFollowers } from '../records/crate-change.ts'
import { readCrate } from '../records/crates.ts'
import { setMarks } from '../records/marks.ts'
import { listVersions } from '../records/releases.ts'
import {
  addImport,
  followReleases,
  importRelease,
  type ReleaseOutcome,
} from '../records/releases-changes.ts'
import { eachContents } from '../records/releases-view.ts'
import { apartOf } from './cache.ts'
import type { StaticCrate, StaticRelease } from './releases.ts'

/** Added to the id of a crate that is gone, which lists still have. */
const GONE = 2 ** 34

/** Times are unknown: a `.crate` does not contain them. */
const CHANGE = operatorChange('')

/** A crate that differs, and what its folder has. */
interface Difference {
  readonly id: number
  /** Its id in the records; null if they do not have it. */
  readonly was: number | null
  readonly after: readonly StaticRelease[]
  /** The number of its first releases that stay as they are. */
  readonly stays: number
}

/**
 * Makes the records those of a folder, with the ids that its names give, in one transaction that
 * marks what is to be rendered. The same folder gives the same ids, and the same order of versions:
 * a crate that differs otherwise than by later versions is removed, and added again.
 */
export async function changeRecords(
  { database, followers }: Records,
  crates: readonly StaticCrate[],
): Promise<void> {
  const differences = await differencesOf(database, crates)
  if (differences.length === 0) return
  await database.transaction(async tx => {
    const versions = crates.flat().length
    const generation = await addImport(tx, CHANGE, { source: 'folder', versions })
    const by = { actor: CHANGE.actor, at: timestamp(new Date(0)) }
    for (const { id, was, after, stays } of differences) {
      const crate = was !== null && stays === 0 ? await readCrate(tx, was) : null
      if (!crate) continue
      const removed = await listVersions(tx, crate.id)
      await tellFollowers(tx, followers, { crate, removed, by, generation })
      // Rows that refer to the id of the crate, which changes; the settings have them, too.
      await run(tx, 'DELETE FROM deprecations WHERE crate_id = ?', crate.id)
      if (after[0]?.name !== crate.name) await setAside(tx, crate.id, generation)
      else if (id !== crate.id) {
        await run(tx, 'DELETE FROM crates WHERE id = ?', crate.id)
        // What marks of the id until now say of versions that are gone.
        await setMarks(tx, [{ kind: 'whole', subject: id }], generation)
      }
    }
    for (const { id, after, stays } of differences) {
      const outcomes: ReleaseOutcome[] = []
      for (const release of after.slice(stays)) {
        const whole = { ...release, ...(await apartOf(tx, release.entry.cksum)) }
        const { edit, ...outcome } = await importRelease(tx, whole, CHANGE, { owner: null, id })
        outcomes.push({ ...outcome, edit: edit && { ...edit, generation } })
      }
      await followReleases(tx, followers, outcomes)
    }
  })
}

/** Keeps a crate that is gone until lists down to its name are; its id and its name are free. */
async function setAside(tx: Queries, id: number, generation: number): Promise<void> {
  const sql = "UPDATE crates SET id = ?, canonical = canonical || ' gone' WHERE id = ?"
  await run(tx, sql, id + GONE, id)
  await setMarks(tx, [{ kind: 'list', subject: id + GONE }], generation)
}

/** Forgets the crates that are gone, once no list has them. */
export async function removeGone(db: Queries): Promise<void> {
  await run(db, 'DELETE FROM crates WHERE id >= ?', GONE)
}

async function differencesOf(db: Database, crates: readonly StaticCrate[]): Promise<Difference[]> {
  const left = new Map(crates.map(crate => [canonicalName(crate[0].name), crate]))
  const ids = idsOf(left.keys())
  const differences: Difference[] = []
  for await (const { id: was, name, releases } of eachContents(db)) {
    const canonical = canonicalName(name)
    const after = left.get(canonical) ?? []
    left.delete(canonical)
    const id = ids.get(canonical) ?? 0
    const isThere = id === was && after[0]?.name === name && isStart(releases, after)
    const stays = isThere ? releases.length : 0
    if (!isThere || stays < after.length) differences.push({ id, was, after, stays })
  }
  for (const [name, after] of left)
    differences.push({ id: ids.get(name) ?? 0, was: null, after, stays: 0 })
  return differences
}

/** Returns whether a crate has nothing but later versions besides those that it had. */
function isStart(before: readonly string[], after: readonly StaticRelease[]): boolean {
  return before.every((release, at) => {
    const { cksum, yanked, vers } = after[at]?.entry ?? {}
    return release === `${cksum} ${yanked ? 1 : 0} ${vers}`
  })
}
