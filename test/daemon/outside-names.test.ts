// Mirrors daemon/app.ts: names from outside as keys of tables
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPages } from '../../generator/pages/pages.ts'
import { TestRegistry } from '../support/registry.ts'
import { loggedIn } from '../support/visitor.ts'

/** Names that every plain object answers to. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const

for (const name of NAMES) {
  test(`a query, a header, a cookie and a form may use the name ${name}`, async t => {
    const test = await TestRegistry.open(t)
    await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
    const headers = { cookie: `${name}=1`, [name]: '1' }
    const rows: [path: string, status: number][] = [
      [`/api/v1/crates?${name}=1&q=${name}&page=${name}`, 200],
      [`/api/v1/crates/demo?include=${name}`, 200],
      [`/api/v1/crates/demo/versions?sort=${name}`, 200],
      [`/search/?q=${name}&${name}=${name}`, 200],
      [`/api/v1/crates/${name}`, 404],
      [`/${name}`, 404],
    ]
    for (const [path, status] of rows)
      assert.equal((await test.app.request(path, { headers })).status, status, path)
    const visitor = await loggedIn(test, 'alice')
    const home = await (await visitor.get(`/me?done=${name}&page=${name}`)).text()
    assert.ok(home.includes('alice') && !home.includes('native code'))
    const token = await visitor.post('/me/tokens', { name, scope: name, [name]: 'x' })
    assert.equal(token.status, 400)
    assert.match(await token.text(), new RegExp(`${name}[^]*publish-new, publish-update`, 's'))
  })
}

test('a text with U+0000 is refused where it comes in, and in a README it is replaced', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const manifest = 'readme = "README.md"'
  const files = { 'src/lib.rs': '', 'README.md': 'one\0two' }
  const published = await test.publish(token, { name: 'demo', version: '1.0.0', manifest, files })
  assert.equal(published.body.errors, undefined)
  const readme = await test.request('GET', '/api/v1/crates/demo/1.0.0/readme')
  assert.equal(await readme.text(), 'one\uFFFDtwo')
  const license = '[package]\nname = "demo"\nversion = "1.1.0"\nlicense = "MI\\u0000T"'
  const refused = await test.publish(token, { name: 'demo', version: '1.1.0', manifest: license })
  const [{ detail } = { detail: '' }] = refused.body.errors ?? []
  assert.match(detail, /^`package\.license` in `Cargo\.toml` contains the character U\+0000/)
  await buildPages(test.registry)
  const search = await test.request('GET', '/api/v1/crates?q=demo&license=%00')
  assert.deepEqual(((await search.json()) as { crates: unknown }).crates, [])
  const visitor = await loggedIn(test, 'alice')
  const made = await visitor.post('/me/tokens', { name: 'a\0b', access: 'full' })
  assert.equal(made.status, 400)
})
