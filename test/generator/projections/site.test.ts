// Mirrors generator/projections/site: what depends on the program alone is not written for a crate.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { buildPages } from '../../../generator/pages/pages.ts'
import { assetPath } from '../../../site/layout/assets.ts'
import { TestRegistry } from '../../support/registry.ts'

test('a publish writes the front page alone, and all that is fixed where the assets are missing', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { tree } = registry.registry
  const publish = async (name: string) => {
    await registry.publish(token, { name, version: '1.0.0' })
    await registry.indexWorker.pages.flush()
    assert.match((await registry.shown('index.html')) ?? '', new RegExp(`crates/${name}/`))
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
