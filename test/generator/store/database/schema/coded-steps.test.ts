import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../../../core/name.ts'
import { openRegistry } from '../../../../../generator/registry.ts'
import { findCard } from '../../../../../generator/store/catalog/pages/cards.ts'
import { all, run } from '../../../../../generator/store/database/statement.ts'
import { TestRegistry } from '../../../../support/registry.ts'

const VERSIONS = {
  above: ['1.0.0', '2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'],
  below: ['1.0.0-rc.1', '1.0.0+build-1'],
  yanked: ['1.0.0', '2.0.0-rc.1'],
  early: ['0.1.0-alpha.2', '0.1.0-alpha.1'],
}

test('an upgrade finds the highest version of each crate, as changes keep it', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  for (const [name, versions] of Object.entries(VERSIONS))
    for (const version of versions) await registry.publish(token, { name, version })
  await registry.request('DELETE', '/api/v1/crates/yanked/2.0.0-rc.1/yank', token)
  const { database } = registry.registry
  const listings = 'SELECT crate_id, max_id FROM listings ORDER BY crate_id'
  const kept = await all(database, listings)
  for (const undo of [
    'ALTER TABLE listings DROP COLUMN max_id',
    "DELETE FROM kysely_migration WHERE name >= '030'",
    "UPDATE schema_record SET newest = '029_no_image_copies', oldest = '029_no_image_copies'",
  ])
    await run(database, undo)
  const upgraded = await openRegistry(registry.dir, { env: {} })
  t.after(() => upgraded.close())
  assert.deepEqual(await all(upgraded.database, listings), kept)
  const highest = async (name: string) =>
    (await findCard(upgraded.database, parseName(name)))?.highest
  assert.deepEqual(await Promise.all(Object.keys(VERSIONS).map(highest)), [
    '2.0.0-rc.10',
    '1.0.0+build-1',
    '1.0.0',
    '0.1.0-alpha.2',
  ])
})
