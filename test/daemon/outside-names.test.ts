// Mirrors daemon/app.ts: names from outside as keys of tables
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../support/registry.ts'
import { loggedIn } from '../support/visitor.ts'

/** Names that every plain object answers to. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const

const ok = { status: 200 }

for (const name of NAMES) {
  test(`a query, a header, a cookie and a form may use the name ${name}`, async t => {
    const test = await TestRegistry.open(t)
    await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const { status } = await test.app.request(path, { headers })
      return { status }
    }
    assert.deepEqual(await get(`/api/v1/crates?${name}=1&q=${name}&page=${name}`), ok)
    assert.deepEqual(await get(`/api/v1/crates/demo?include=${name}`), ok)
    assert.deepEqual(await get(`/api/v1/crates/demo/versions?sort=${name}`), ok)
    assert.deepEqual(await get(`/search/?q=${name}&${name}=${name}`), ok)
    assert.deepEqual(await get(`/api/v1/crates/${name}`), { status: 404 })
    assert.deepEqual(await get(`/${name}`), { status: 404 })
    assert.deepEqual(await get('/api/v1/summary', { cookie: `${name}=1`, [name]: '1' }), ok)
    const visitor = await loggedIn(test, 'alice')
    const home = await (await visitor.get(`/me?done=${name}&page=${name}`)).text()
    assert.ok(home.includes('alice') && !home.includes('native code'))
    const token = await visitor.post('/me/tokens', { name, scope: name, [name]: 'x' })
    assert.equal(token.status, 400)
    assert.match(await token.text(), new RegExp(`${name}[^]*publish-new, publish-update`, 's'))
  })
}
