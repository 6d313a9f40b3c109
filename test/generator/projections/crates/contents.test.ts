// Mirrors generator/projections/crates/projection.ts: the order of pages and source pages
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { pageMarks } from '../../../../generator/pages/due.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import { TestRegistry } from '../../../support/registry.ts'

// The source of a small package would be rendered before its pages.
const NOISE = Array.from({ length: 2000 }, (_, at) => createHash('sha256').update(`${at}`).digest())
const FILES = {
  'src/lib.rs': '// one\nfn a() {}\n',
  'LICENSE-MIT': 'MIT',
  'LICENSE-APACHE': 'x',
  noise: Buffer.concat(NOISE),
}
const CRATE = { name: 'demo', version: '1.0.0', files: FILES }
const PAGES = ['crates/demo/index.html', 'crates/demo/1.0.0/index.html']

test('pages link to the source and to license texts', async t => {
  const registry = await TestRegistry.open(t)
  const { database } = registry.registry
  await registry.publish(await registry.user('alice'), CRATE)
  await registry.indexWorker.pages.flush()
  for (const page of PAGES) {
    const html = await registry.text(page)
    assert.match(html, />Source<\/a>/)
    assert.match(html, /<a href="[^"]*src\/#LICENSE-MIT">MIT<\/a>/)
    assert.match(html, /1 line of Rust/)
  }
  assert.deepEqual(await pageMarks(database, registry.now), [])
})

test('a command renders no page twice', async t => {
  const registry = await TestRegistry.open(t)
  // Nobody else renders.
  await registry.indexWorker.pages.close(600)
  await registry.publish(await registry.user('alice'), CRATE)
  const { database } = registry.registry
  assert.equal((await buildPages(registry.registry)).crates, 1)
  for (const page of PAGES) assert.match(await registry.text(page), />Source<\/a>/)
  assert.deepEqual(await pageMarks(database, registry.now), [])
})
