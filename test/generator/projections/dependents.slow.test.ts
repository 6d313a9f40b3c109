// Mirrors generator/projections/dependents: a crate with many dependents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SHARDS, TOGETHER } from '../../../core/impact/dependents.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { dependentsFiles, onOwn, remove, render } from '../../support/dependents.ts'
import { fileStamps } from '../../support/folder.ts'
import { addCrate, newRegistry, publicText } from '../../support/workplace.ts'

test('many dependents are in shards as long as they are many, and a whole build has the same', async t => {
  const registry = await newRegistry(t)
  const publish = (at: number) =>
    addCrate(registry, { name: `app${at}`, version: '1.0.0', manifest: onOwn('low', '1') })
  const same = async () => {
    await render(registry)
    const sums = () => dependentsFiles(registry).map(path => [path, publicText(registry, path)])
    const now = sums()
    await registry.tree.remove('dependents', true)
    await buildPages(registry, { all: true })
    assert.deepEqual(sums(), now)
    return now
  }
  await addCrate(registry, { name: 'low', version: '1.0.0' })
  for (let at = 0; at < TOGETHER; at++) await publish(at)
  assert.equal((await same()).length, 1)
  await publish(TOGETHER)
  const sharded = await same()
  assert.ok(sharded.length > SHARDS / 2, 'some shards may be empty')
  assert.equal(publicText(registry, 'dependents/low/all.json'), '{"shards":64}\n')
  const before = fileStamps(registry.tree.root)
  await publish(TOGETHER + 1)
  await render(registry)
  const after = fileStamps(registry.tree.root)
  const written = dependentsFiles(registry).filter(path => before[path] !== after[path])
  assert.equal(written.length, 1, 'its shard alone')
  await remove(registry, 'app3', '1.0.0')
  await remove(registry, 'app5', '1.0.0')
  assert.deepEqual(
    (await same()).map(([path]) => path),
    ['dependents/low/all.json'],
  )
})
