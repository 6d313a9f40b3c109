import type { Name } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { Database } from '../store/database/database.ts'

/** How many releases the records have. */
export async function countReleases(records: Database): Promise<number> {
  const row = await records
    .selectFrom('releases')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .executeTakeFirst()
  return row?.n ?? 0
}

/** A release and where its bytes are. */
export interface Named {
  readonly key: string
  readonly name: string
  readonly version: string
  readonly cksum: string
}

/** Every release and the key of its bytes, read in pages. */
export async function* releasesOf(records: Database): AsyncIterable<Named> {
  for (let last = 0; ; ) {
    const page = await records
      .selectFrom('releases')
      .innerJoin('crates', 'crates.id', 'releases.crate_id')
      .select(['releases.id', 'releases.version', 'crates.name', 'releases.cksum'])
      .where('releases.id', '>', last)
      .orderBy('releases.id')
      .limit(1000)
      .execute()
    for (const { name, version, cksum } of page) {
      yield { key: crateKey(name as Name, cksum), name, version, cksum }
    }
    if (page.length === 0) return
    last = page.at(-1)?.id ?? last
  }
}
