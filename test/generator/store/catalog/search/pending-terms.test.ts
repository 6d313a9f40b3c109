import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Name } from '../../../../../core/name.ts'
import type { Version } from '../../../../../core/version.ts'
import { deleteReleases } from '../../../../../generator/delete.ts'
import { listMarks } from '../../../../../generator/store/catalog/marks.ts'
import { setYanked } from '../../../../../generator/store/catalog/release-changes.ts'
import { searchState } from '../../../../../generator/store/catalog/search/pending-terms.ts'
import { searchCrates, searchFor } from '../../../../../generator/store/catalog/search/search.ts'
import { run } from '../../../../../generator/store/database/statement.ts'
import { TestRegistry } from '../../../../support/registry.ts'

/** A registry whose owner publishes crates with a description, and searches them. */
async function start(t: TestContext) {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { database } = registry.registry
  const publish = async (name: string, version: string, description: string) => {
    const head = `[package]\nname = "${name}"\nversion = "${version}"\nlicense = "MIT"`
    const manifest = `${head}\ndescription = "${description}"\n`
    const { body } = await registry.publish(token, { name, version, manifest })
    assert.ok(!('errors' in body), JSON.stringify(body))
  }
  const search = async (word: string) =>
    (await searchCrates(database, searchFor(word), { limit: 10, offset: 0 })).ids.length
  const pending = async () => (await listMarks(database, 'terms')).map(mark => mark.subject)
  return { registry, database, token, publish, search, pending }
}

test('a search finds what was published before it, and no more the words of the version before', async t => {
  const { publish, search, pending } = await start(t)
  assert.equal(await search('lantern'), 0)
  await publish('demo', '1.0.0', 'brass lantern')
  assert.deepEqual(await pending(), [1])
  assert.equal(await search('lantern'), 1)
  assert.deepEqual(await pending(), [])
  await publish('demo', '1.1.0', 'brass candle')
  assert.deepEqual([await search('candle'), await search('lantern')], [1, 0])
})

test('a search that would wait too long finds what was known before', async t => {
  const { database, publish, search } = await start(t)
  await publish('demo', '1.0.0', 'lantern')
  assert.equal(await search('lantern'), 1)
  await publish('demo', '1.1.0', 'candle')
  await database.transaction(async tx => {
    // Who writes now keeps others from writing until the end.
    await run(tx, "DELETE FROM facts WHERE key = 'nothing'")
    assert.deepEqual([await search('lantern'), await search('candle')], [1, 0])
  })
  assert.deepEqual([await search('lantern'), await search('candle')], [0, 1])
})

test('a version may be deleted by whose words searches still find its crate', async t => {
  const { registry, publish, search, pending } = await start(t)
  await publish('demo', '1.0.0', 'lantern')
  assert.equal(await search('lantern'), 1)
  await publish('demo', '1.1.0', 'candle')
  const change = { at: '2026-11-20T12:00:00Z', actor: 'test', user: null, tokenId: null }
  const order = { name: 'demo' as Name, version: '1.0.0' as Version, force: true }
  await deleteReleases(registry.registry, order, change)
  assert.deepEqual([await search('candle'), await search('lantern')], [1, 0])
  await deleteReleases(registry.registry, { ...order, version: '1.1.0' as Version }, change)
  assert.deepEqual(await pending(), [])
  assert.deepEqual([await search('candle'), await search('demo')], [0, 0])
})

test('a crate that cannot be made findable does not keep others from it', async t => {
  const { registry, database, publish, search, pending } = await start(t)
  await publish('good', '1.0.0', 'lantern')
  await publish('broken', '1.0.0', 'candle')
  await run(database, "UPDATE releases SET about = '{' WHERE crate_id = 2")
  assert.equal(await search('lantern'), 0)
  await registry.indexWorker.pages.flush()
  assert.deepEqual([await search('lantern'), await pending()], [1, [2]])
})

test('each change of what searches find makes another version, and nothing else does', async t => {
  const { registry, database, publish, search } = await start(t)
  const change = { at: '2026-11-20T12:00:00Z', actor: 'test', user: null, tokenId: null }
  const yank = (version: string, yanked: boolean) =>
    setYanked(database, 'demo' as Name, version as Version, yanked, change)
  const now = async () => {
    await search('demo')
    return (await searchState(database)).version
  }
  const versions = [await now()]
  await publish('demo', '1.0.0', 'lantern')
  await publish('other', '1.0.0', 'lantern')
  versions.push(await now())
  await publish('demo', '1.1.0', 'lantern')
  versions.push(await now())
  await yank('1.1.0', true)
  versions.push(await now())
  await yank('1.0.0', true)
  versions.push(await now())
  const order = { name: 'other' as Name, version: '1.0.0' as Version, force: true }
  await deleteReleases(registry.registry, order, change)
  versions.push(await now())
  assert.deepEqual(
    versions,
    [...new Set(versions)].toSorted((a, b) => a - b),
  )
  await yank('1.1.0', false)
  const before = await now()
  // Not the newest version, whose words find the crate.
  await yank('1.0.0', false)
  await registry.indexWorker.pages.flush()
  assert.equal(await now(), before)
})
