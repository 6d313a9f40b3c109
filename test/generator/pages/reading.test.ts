// Mirrors generator/pages/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { openServer } from '../../support/open-server.ts'
import { TestRegistry } from '../../support/registry.ts'
import { scratch } from '../../support/scratch.ts'

const DESCRIPTION = 'safe \\u202Eevil'
const manifest = `[package]\nname = "keel"\nversion = "1.0.0"\nlicense = "MIT"\ndescription = "${DESCRIPTION}"\ncategories = ["caching", "made-up"]\n`

test('bidi controls of a description are warned of at publish, and isolated in pages and searches', async t => {
  const server = await openServer(t)
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_REGISTRY_BASE_URL: server.url } })
  server.answer(test.app.fetch)
  const token = await test.user('alice')
  const { body } = await test.publish(token, { name: 'keel', version: '1.0.0', manifest })
  assert.match(JSON.stringify(body), /the description has invisible characters that change/)
  await test.indexWorker.pages.flush()
  const shown = '\u2068safe \u202eevil\u2069'
  for (const file of ['crates/keel/index.html', 'crates/index.html', 'feeds/updates.xml'])
    assert.ok((await test.text(file)).includes(shown), file)
  const found = await (await test.request('GET', '/api/v1/crates?q=keel')).json()
  assert.equal((found as { crates: { description: string }[] }).crates[0]?.description, shown)
  const folder = scratch(new Cleanup(t))
  const index = `sparse+${server.url}/index/`
  const cargo = new Cargo(folder, { registries: { test: index }, cratesIo: index })
  const { stdout } = await cargo.ok(folder, 'search', '--registry', 'test', 'keel')
  assert.match(stdout, new RegExp(`^keel = "1\\.0\\.0" +# ${shown}$`, 'm'))
})

test('a category that was called invalid has no page, and no link to one', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const { body } = await test.publish(token, { name: 'keel', version: '1.0.0', manifest })
  assert.deepEqual(body.warnings?.invalid_categories, ['made-up'])
  await test.indexWorker.pages.flush()
  const page = await test.text('crates/keel/index.html')
  assert.match(page, /href="[^"]*categories\/caching\/"/)
  assert.match(page, /href="[^"]*search\/\?category=made-up"/)
  assert.notEqual(await test.shown('categories/caching/index.html'), null)
  assert.equal(await test.shown('categories/made-up/index.html'), null)
  assert.doesNotMatch(await test.text('categories/index.html'), /made-up/)
})

test('the document has the order in which a phone is read', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'keel', version: '1.0.0' })
  await test.indexWorker.pages.flush()
  const page = await test.text('crates/keel/index.html')
  const parts = [
    'class="brand"',
    '<nav aria-label="Site"',
    'id="search"',
    'class="install"',
    'class="about"',
    'class="content"',
    'class="side"',
  ]
  const places = parts.map(part => page.indexOf(part))
  assert.ok(
    places.every(place => place > 0),
    String(places),
  )
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
})
