import type { Name } from '../../../core/name.ts'
import type { Database } from '../database/database.ts'
import { GIT_FOLLOWED } from './marks.ts'
import type { Mark, Queries } from './record.ts'

/** A change of a release as the audit has it. */
export interface ReleaseEvent {
  readonly id: number
  readonly at: string
  readonly action: string
  readonly actor: string
  readonly crate: string
  readonly version: string | null
}

/** Crates whose index file is to be committed, as they are at one moment, and what happened to them since the last time. */
export interface GitBatch {
  readonly marks: readonly Mark[]
  readonly crates: readonly { readonly name: Name; readonly lines: readonly string[] }[]
  readonly events: readonly ReleaseEvent[]
  /** Pass it as `after` next time. */
  readonly last: number
}

const ACTIONS = ['publish', 'yank', 'unyank', 'delete', 'import']

/** The next batch, at most `limit` crates; events are those after the audit event `after`. One transaction. */
export async function gitBatch(
  database: Database,
  after: number,
  limit: number,
): Promise<GitBatch> {
  return database.transaction().execute(async tx => {
    const rows = await tx
      .selectFrom('marks')
      .innerJoin('crates', 'crates.id', 'marks.subject')
      .select(['marks.kind', 'marks.subject', 'marks.generation', 'crates.name'])
      .where('marks.kind', '=', 'git')
      .orderBy('marks.generation')
      .limit(limit)
      .execute()
    const crates: { name: Name; lines: string[] }[] = []
    for (const row of rows) {
      const lines = await tx
        .selectFrom('releases')
        .select('line')
        .where('crate_id', '=', row.subject)
        .orderBy('id')
        .execute()
      crates.push({ name: row.name as Name, lines: lines.map(one => one.line) })
    }
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

/** From now on changes are marked for the git index; marks every crate, unless that was so already. */
export async function followForGit(database: Database): Promise<void> {
  const isFollowed = (tx: Queries) =>
    tx.selectFrom('facts').select('key').where('key', '=', GIT_FOLLOWED)
  if (await isFollowed(database).executeTakeFirst()) return
  await database.transaction().execute(async tx => {
    if (await isFollowed(tx).executeTakeFirst()) return
    await tx.insertInto('facts').values({ key: GIT_FOLLOWED, value: 'yes' }).execute()
    await tx
      .insertInto('marks')
      .columns(['kind', 'subject', 'generation'])
      .expression(eb =>
        eb.selectFrom('crates').select([eb.val('git').as('kind'), 'id', 'generation']),
      )
      .orIgnore()
      .execute()
  })
}

/** Nobody writes the git index: takes all its marks off and sets no more, until somebody follows again. */
export async function unfollowForGit(database: Database): Promise<void> {
  await database.transaction().execute(async tx => {
    await tx.deleteFrom('facts').where('key', '=', GIT_FOLLOWED).execute()
    await tx.deleteFrom('marks').where('kind', '=', 'git').execute()
  })
}

/** Marks some crates, as those whose file in the repository is not what the catalog has. */
export async function markForGit(database: Database, crateIds: readonly number[]): Promise<void> {
  for (let start = 0; start < crateIds.length; start += 500) {
    await database
      .insertInto('marks')
      .columns(['kind', 'subject', 'generation'])
      .expression(eb =>
        eb
          .selectFrom('crates')
          .select([eb.val('git').as('kind'), 'id', 'generation'])
          .where('id', 'in', crateIds.slice(start, start + 500)),
      )
      .orIgnore()
      .execute()
  }
}
