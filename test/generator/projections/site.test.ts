// Mirrors generator/projections/site: what depends on the program alone is not written for a crate.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { buildMarks } from '../../../generator/pages/marked.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { setMarks } from '../../../generator/records/marks.ts'
import { assetPath } from '../../../site/layout/assets.ts'
import { TestRegistry } from '../../support/registry.ts'
import { listMarks } from '../../support/rows.ts'

test('a publish writes the front page alone, and all that is fixed where the assets are missing', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { tree } = registry.registry
  const publish = async (name: string) => {
    await registry.publish(token, { name, version: '1.0.0' })
    await registry.indexWorker.pages.flush()
    assert.match(await registry.text('index.html'), new RegExp(`crates/${name}/`))
    return registry.shown('robots.txt')
  }
  const robots = await publish('first')
  assert.notEqual(robots, null)
  await tree.remove('robots.txt')
  assert.equal(await publish('second'), null)
  await rm(tree.path(assetPath('style.css')))
  assert.equal(await publish('third'), robots, 'as in the folder of another version')
  await tree.remove('robots.txt')
  await buildPages(registry.registry, { all: true })
  assert.equal(await registry.shown('robots.txt'), robots)
})

test('missing assets are marked before the first of them is written, for whoever is killed then', async t => {
  const { registry } = await TestRegistry.open(t)
  const { database, tree } = registry
  await setMarks(database, [{ kind: 'site', subject: 0 }], 0)
  await buildMarks(registry, await listMarks(database, 'site'))
  const [mark, ...others] = await listMarks(database, 'site')
  assert.deepEqual([mark?.subject, others], [1, []])
  assert.equal(await tree.has(assetPath('style.css')), false)
  await buildMarks(registry, await listMarks(database, 'site'))
  assert.deepEqual(await listMarks(database, 'site'), [])
  assert.equal(await tree.has(assetPath('style.css')), true)
})
