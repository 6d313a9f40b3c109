import type { Database } from '../database/connection.ts'
import { all, LIST, type Queries, type Row, run } from '../database/statement.ts'
import { MARK, type Mark, markSelected } from './marks.ts'
import { type IndexedCrate, indexFiles } from './releases.ts'
import { GIT_FOLLOWED, isFollowedForGit, writeValue } from './values.ts'

/** A change to a release, from the audit log. */
export interface ReleaseEvent
  extends Readonly<Pick<Row<'audit'>, 'id' | 'at' | 'action' | 'actor' | 'version'>> {
  readonly crate: string
}

/** Crates whose index file has to be committed, and their changes since the last batch. */
export interface GitBatch {
  readonly marks: readonly Mark[]
  readonly crates: readonly IndexedCrate[]
  readonly events: readonly ReleaseEvent[]
  /** Pass it as `after` next time. */
  readonly last: number
}

/**
 * Reads the next batch in one transaction: at most `limit` crates, and the events after `after`.
 */
export async function gitBatch(
  database: Database,
  after: number,
  limit: number,
): Promise<GitBatch> {
  return database.transaction(async tx => {
    const sql = `SELECT ${MARK} FROM marks WHERE kind = 'git' ORDER BY generation LIMIT ?`
    const marks = await all<Mark>(tx, sql, limit)
    const crates = await indexFiles(
      tx,
      marks.map(({ subject }) => subject),
    )
    const last = Math.max(after, marks.at(-1)?.generation ?? after)
    const changes = `SELECT id, at, action, actor, crate, version FROM audit
      WHERE id > ? AND id <= ? AND crate IS NOT NULL
        AND action IN ('publish', 'yank', 'unyank', 'delete', 'import')
      ORDER BY id LIMIT 1000`
    const events = await all<ReleaseEvent>(tx, changes, after, last)
    return { marks, crates, events, last }
  }, 'later')
}

/** Starts to mark changes for the git index; the first call also marks every crate. */
export async function followForGit(database: Database): Promise<void> {
  if (await isFollowedForGit(database)) return
  await database.transaction(async tx => {
    if (await isFollowedForGit(tx)) return
    await writeValue(tx, GIT_FOLLOWED, 'yes')
    await markSelected(tx, 'git', CRATES)
  })
}

/** Clears all marks of the git index; none are set until the next `followForGit`. */
export async function unfollowForGit(database: Database): Promise<void> {
  await database.transaction(async tx => {
    await writeValue(tx, GIT_FOLLOWED, null)
    await run(tx, "DELETE FROM marks WHERE kind = 'git'")
  })
}

/** Marks crates for the git index; an existing mark stays as it is. */
export async function markForGit(db: Queries, crateIds: readonly number[]): Promise<void> {
  await markSelected(db, 'git', `${CRATES} WHERE id IN ${LIST}`, crateIds)
}

const CRATES = 'SELECT id AS subject, generation FROM crates'
