// Mirrors daemon/access/: a registry without an API
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issue } from '../../../core/error/error.ts'
import { registryCounts } from '../../../generator/records/crates.ts'
import { TestRegistry } from '../../support/registry.ts'
import { publishRequest } from '../../support/release.ts'
import { loggedIn } from '../../support/visitor.ts'

const env = { PLIMSOLL_REGISTRY_API: 'none' }
const { message } = issue('api_off')

test('a registry without API refuses every change of a crate that a token asks for', async t => {
  const test = await TestRegistry.open(t, { env })
  const authorization = await test.user('alice')
  const crate = '/api/v1/crates/demo'
  const body = publishRequest({ name: 'demo', version: '1.0.0' })
  const calls = [
    ['PUT', '/api/v1/crates/new', body],
    ['DELETE', `${crate}/1.0.0/yank`, undefined],
    ['PUT', `${crate}/1.0.0/unyank`, undefined],
    ['PUT', `${crate}/owners`, '{"users":["bob"]}'],
    ['DELETE', `${crate}/owners`, '{"users":["alice"]}'],
  ] as const
  for (const [method, path, body] of calls) {
    const init = { method, headers: { authorization }, ...(body && { body }) }
    const response = await test.app.request(path, init)
    const expected = [403, { errors: [{ detail: message }] }]
    assert.deepEqual([response.status, await response.json()], expected, `${method} ${path}`)
  }
  assert.equal((await registryCounts(test.registry.database)).crates, 0)
})

test('reads and searches are still answered', async t => {
  const test = await TestRegistry.open(t, { env })
  for (const path of ['/api/v1/crates?q=demo', '/api/v1/summary', '/search/?q=demo'])
    assert.equal((await test.request('GET', path)).status, 200, path)
})

test('its pages refuse the same; tokens for reading can still be made', async t => {
  const test = await TestRegistry.open(t, { env })
  await test.user('alice')
  const visitor = await loggedIn(test, 'alice')
  const crate = '/me/crates/demo'
  for (const path of ['yank', 'unyank', 'owners/add', 'owners/remove']) {
    const response = await visitor.post(`${crate}/${path}`, { version: '1.0.0', login: 'bob' })
    assert.equal(response.status, 403, path)
    assert.ok((await response.text()).includes('his registry takes no changes over the web'))
  }
  const made = await visitor.post('/me/tokens', { name: 'reader', scope: 'read' })
  assert.equal(made.status, 200)
})
