import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeFact } from '../../../../../generator/store/catalog/facts.ts'
import { SearchCache } from '../../../../../generator/store/catalog/search/search-cache.ts'
import { type Queries, run } from '../../../../../generator/store/database/statement.ts'
import { openCatalog } from '../../../../support/engine.ts'
import { folderOf } from '../../../../support/workplace.ts'

/** What a search reads of a word: the same object as before if it was kept. */
async function search(db: Queries) {
  return setsIn(await SearchCache.complete(db))
}

const setsIn = (cache: SearchCache, term = 'word') => cache.sets([{ term, likeness: 'same' }])

/** What the database itself does when a crate is found by something else (`pending-terms.test.ts`). */
const change = (db: Queries) => run(db, "UPDATE counts SET n = n + 1 WHERE what = 'search'")

test('sets are kept until this process or another one changes what searches find', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const [database, other] = [await openCatalog(t, path), await openCatalog(t, path)]
  let last = await search(database)
  assert.equal(await search(database), last)
  for (const db of [database, other]) {
    await change(db)
    assert.notEqual(await search(database), last)
    last = await search(database)
    assert.equal(await search(database), last)
  }
})

test('sets are kept whatever else is written: daemons of a server write all the time', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  const [database, other] = [await openCatalog(t, path), await openCatalog(t, path)]
  const first = await search(database)
  for (const db of [database, other]) {
    await writeFact(db, 'a', '1')
    assert.equal(await search(database), first)
  }
})

test('what a search reads after a change that it does not know is kept for nobody later', async t => {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const cache = await SearchCache.complete(database)
  await change(database)
  const late = await setsIn(cache)
  assert.notEqual(await search(database), late)
})

test('what a transaction sees is kept for nobody', async t => {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const seen = await database.transaction(async tx => [await search(tx), await search(tx)])
  assert.equal(new Set([...seen, await search(database)]).size, 3)
})

test('long texts that strangers search for do not fill the memory', async t => {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const cache = await SearchCache.complete(database)
  const first = await search(database)
  for (let at = 0; at < 40; at++) await setsIn(cache, `${at}${'x'.repeat(2 ** 19)}`)
  assert.notEqual(await search(database), first)
})
