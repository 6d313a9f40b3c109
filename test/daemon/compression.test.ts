// Mirrors daemon/app.ts: which answers are compressed
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assetPath } from '../../site/layout/assets.ts'
import { TestRegistry } from '../support/registry.ts'
import { loggedIn } from '../support/visitor.ts'

test('searches, the API, metrics and assets are compressed for those who ask; changes and accounts never', async t => {
  const test = await TestRegistry.open(t)
  const authorization = await test.user('alice')
  const ask = async (path: string, encoding: string) => {
    const answer = await test.app.request(`http://localhost${path}`, {
      headers: { 'accept-encoding': encoding },
    })
    const bytes = (await answer.arrayBuffer()).byteLength
    return { bytes, encoding: answer.headers.get('content-encoding') }
  }
  for (const path of [
    '/search/?q=demo',
    '/api/v1/crates?q=demo',
    '/api/openapi.json',
    '/metrics',
    `/${assetPath('style.css')}`,
  ]) {
    const [plain, zipped] = [await ask(path, 'identity'), await ask(path, 'gzip, br')]
    assert.deepEqual([plain.encoding, zipped.encoding], [null, 'gzip'], path)
    if (plain.bytes > 1000) assert.ok(zipped.bytes < plain.bytes / 2, path)
  }
  const headers = { 'accept-encoding': 'gzip', authorization }
  const change = await test.app.request('/api/v1/crates/new', { method: 'PUT', headers })
  assert.equal(change.headers.get('content-encoding'), null)
  const visitor = await loggedIn(test, 'alice')
  const page = await visitor.send('/me', { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-encoding'), null)
})
