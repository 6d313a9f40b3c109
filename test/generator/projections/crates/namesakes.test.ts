// Mirrors generator/projections/crates/crate.ts: names that are dependencies from elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { reverseAnswer } from '../../../../daemon/api/schema.ts'
import { build } from '../../../../generator/pages/build.ts'
import { pageWork } from '../../../../generator/pages/marked.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import { verifyPages } from '../../../../generator/verify/pages.ts'
import { findingsOf } from '../../../support/findings.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { sentDependency } from '../../../support/release.ts'

const ON_SERDE = '[dependencies]\nserde-json = "1"\n'
const SERDE = sentDependency('serde-json', {
  registry: 'https://github.com/rust-lang/crates.io-index',
})

test('a crate that appears or goes is linked, or no longer, where its name is a dependency', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const app = { name: 'app', version: '1.0.0', manifest: ON_SERDE }
  await registry.publish(token, app, { deps: [SERDE] })
  await registry.indexWorker.pages.flush()
  const page = async (name: string) => await registry.text(`crates/${name}/index.html`)
  const intact = async () => {
    const findings = verifyPages(registry.registry, { repair: false, served: false })
    assert.deepEqual(await findingsOf(findings), [])
  }
  assert.match(await page('app'), /from crates\.io</)
  await registry.publish(token, { name: 'serde_json', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  assert.match(await page('app'), /<a href="\.\.\/serde_json\/">also in this registry<\/a>/)
  assert.match(await page('serde_json'), /<strong>app<\/strong>[^§]*from crates\.io/)
  assert.equal(JSON.parse(await registry.text('crates/serde_json/crate.json')).dependents, 1)
  const answer = await registry.request('GET', '/api/v1/crates/serde_json/reverse_dependencies')
  const { dependencies, meta } = v.parse(reverseAnswer, await answer.json())
  assert.deepEqual([dependencies.length, meta.total], [1, 1])
  assert.equal(dependencies[0]?.registry, SERDE.registry)
  await intact()
  await registry.delete('serde_json')
  await build(registry.registry)
  await buildPages(registry.registry)
  assert.doesNotMatch(await page('app'), /also in this registry/)
  assert.equal((await pageWork(registry.registry)).count, 0)
  await intact()
})
