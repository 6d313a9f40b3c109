import type { Name } from '../../../core/name.ts'
import { inChunks } from '../database/chunks.ts'
import type { Database } from '../database/database.ts'
import type { Queries } from './change.ts'
import { readFact, writeFact } from './facts.ts'
import { GIT_FOLLOWED, MARK, type Mark } from './marks.ts'
import { indexLines } from './releases.ts'

/** A change of a release as the audit has it. */
export interface ReleaseEvent {
  readonly id: number
  readonly at: string
  readonly action: string
  readonly actor: string
  readonly crate: string
  readonly version: string | null
}

/** Crates whose index file is to be committed, and what happened to them since the last batch. */
export interface GitBatch {
  readonly marks: readonly Mark[]
  readonly crates: readonly { readonly name: Name; readonly lines: readonly string[] }[]
  readonly events: readonly ReleaseEvent[]
  /** Pass it as `after` next time. */
  readonly last: number
}

const ACTIONS = ['publish', 'yank', 'unyank', 'delete', 'import']

/**
 * The next batch, at most `limit` crates; events are those after the audit event `after`. One
 * transaction.
 */
export async function gitBatch(
  database: Database,
  after: number,
  limit: number,
): Promise<GitBatch> {
  return database.transaction().execute(async tx => {
    const rows = await tx
      .selectFrom('marks')
      .innerJoin('crates', 'crates.id', 'marks.subject')
      .select([...MARK, 'crates.name'])
      .where('marks.kind', '=', 'git')
      .orderBy('marks.generation')
      .limit(limit)
      .execute()
    const crates: { name: Name; lines: string[] }[] = []
    for (const { name, subject } of rows)
      crates.push({ name: name as Name, lines: await indexLines(tx, subject) })
    const events = await tx
      .selectFrom('audit')
      .select(['id', 'at', 'action', 'actor', 'crate', 'version'])
      .where('id', '>', after)
      .where('id', '<=', rows.at(-1)?.generation ?? after)
      .where('action', 'in', ACTIONS)
      .where('crate', 'is not', null)
      .orderBy('id')
      .limit(1000)
      .execute()
    const last = Math.max(after, rows.at(-1)?.generation ?? after)
    return {
      marks: rows.map(({ name, ...mark }) => mark),
      crates,
      events: events as ReleaseEvent[],
      last,
    }
  })
}

/** Marks changes for the git index from now on, and every crate where that is new. */
export async function followForGit(database: Database): Promise<void> {
  if ((await readFact(database, GIT_FOLLOWED)) !== null) return
  await database.transaction().execute(async tx => {
    if ((await readFact(tx, GIT_FOLLOWED)) !== null) return
    await writeFact(tx, GIT_FOLLOWED, 'yes')
    await markCrates(tx)
  })
}

/** Clears all marks of the git index and sets no more until `followForGit`. */
export async function unfollowForGit(database: Database): Promise<void> {
  await database.transaction().execute(async tx => {
    await writeFact(tx, GIT_FOLLOWED, null)
    await tx.deleteFrom('marks').where('kind', '=', 'git').execute()
  })
}

/** Marks crates whose file in the repository differs from the catalog. */
export async function markForGit(database: Database, crateIds: readonly number[]): Promise<void> {
  for (const part of inChunks(crateIds)) await markCrates(database, part)
}

/** Marks crates for the git index, unless they are marked: all of them, or those with some ids. */
async function markCrates(db: Queries, ids?: readonly number[]): Promise<void> {
  await db
    .insertInto('marks')
    .columns(['kind', 'subject', 'generation'])
    .expression(eb => {
      const crates = eb.selectFrom('crates').select([eb.val('git').as('kind'), 'id', 'generation'])
      // SQLite takes an ON CONFLICT after a SELECT without a WHERE for a part of a join.
      return ids ? crates.where('id', 'in', ids) : crates.where('id', '>', 0)
    })
    .onConflict(conflict => conflict.doNothing())
    .execute()
}
