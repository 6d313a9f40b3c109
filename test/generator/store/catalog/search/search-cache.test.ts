import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeFact } from '../../../../../generator/store/catalog/facts.ts'
import type { Sets } from '../../../../../generator/store/catalog/search/crate-sets.ts'
import { SearchCache } from '../../../../../generator/store/catalog/search/search-cache.ts'
import type { Database } from '../../../../../generator/store/database/database.ts'
import { openDatabase } from '../../../../../generator/store/database/database.ts'
import { openPostgres } from '../../../../../generator/store/database/postgres/open.ts'
import type { Queries } from '../../../../../generator/store/database/statement.ts'
import { Cleanup } from '../../../../support/cleanup.ts'
import { isOnPostgres, serverSettings } from '../../../../support/engine.ts'
import { postgresSuite } from '../../../../support/postgres-suite.ts'
import { folderOf } from '../../../../support/workplace.ts'

/** A snapshot of PostgreSQL tells of every database of a server, so these tests have their own. */
const server = isOnPostgres ? postgresSuite().server : null

/** Opens a new database as often as it is called. */
async function opener(t: TestContext): Promise<() => Promise<Database>> {
  const path = join(folderOf(t), 'plimsoll.db')
  const url = await server?.create(`searched_${++count}`)
  return async () => {
    const opening = url === undefined ? openDatabase(path) : openPostgres(serverSettings(url))
    const database = await opening
    new Cleanup(t).add(() => database.destroy())
    return database
  }
}

let count = 0

/** How often the sets of a word are read by searches that ask for them one after the other. */
function reader(during: () => Promise<void> = async () => {}) {
  const reads = { count: 0 }
  const search = async (db: Queries) =>
    (await SearchCache.of(db)).sets('word', async (): Promise<Sets> => {
      reads.count++
      await during()
      return [new Uint32Array([reads.count])]
    })
  return { reads, search }
}

test('sets are kept until this process or another one writes', async t => {
  const open = await opener(t)
  const [database, other] = [await open(), await open()]
  const { reads, search } = reader()
  const first = await search(database)
  assert.equal(await search(database), first)
  await writeFact(database, 'a', '1')
  assert.notEqual(await search(database), first)
  assert.equal(reads.count, 2)
  await writeFact(other, 'a', '2')
  await search(database)
  await search(database)
  assert.equal(reads.count, 3)
})

test('sets that were read while something was written are not kept', async t => {
  const database = await (await opener(t))()
  const { reads, search } = reader(() => writeFact(database, 'a', String(reads.count)))
  await search(database)
  await search(database)
  assert.equal(reads.count, 2)
})

test('what a transaction sees is kept for nobody', async t => {
  const database = await (await opener(t))()
  const { reads, search } = reader()
  await database.transaction().execute(async tx => {
    await search(tx)
    await search(tx)
  })
  await search(database)
  assert.equal(reads.count, 3)
})
