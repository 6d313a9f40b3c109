import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'

test('another spelling of a name leads every client to the crate, and no other name does', async t => {
  const registry = await TestRegistry.open(t)
  await registry.publish(await registry.user('ada'), { name: 'Some-Crate', version: '1.0.0+b' })
  await registry.indexWorker.pages.flush()
  const ask = async (path: string, accept = 'text/html') => {
    const { status, headers } = await registry.request('GET', path, null, { headers: { accept } })
    return [status, headers.get('location')]
  }
  assert.deepEqual(await ask('/crates/some_crate'), [303, '/crates/Some-Crate/'])
  assert.deepEqual(await ask('/crates/some_crate/?x=1'), [303, '/crates/Some-Crate/?x=1'])
  assert.deepEqual(await ask('/crates/SOME-CRATE/1.0.0+b/src/'), [
    303,
    '/crates/Some-Crate/1.0.0+b/src/',
  ])
  assert.deepEqual(await ask('/crates/Some-Crate/'), [200, null])
  for (const path of [
    '/crates/Some-Crate/2.0.0/',
    '/crates/some-other/',
    '/crates/some%5Fcrate/',
    '/some_crate/',
  ])
    assert.deepEqual(await ask(path), [404, null], path)
  for (const accept of ['*/*', 'application/json'])
    assert.deepEqual(await ask('/crates/some_crate/crate.json', accept), [
      303,
      '/crates/Some-Crate/crate.json',
    ])
  assert.deepEqual(await ask('/crates/Some-Crate/none', '*/*'), [404, null])
  assert.deepEqual(await ask('/crates/some_crate/some_crate-1.0.0.crate', '*/*'), [404, null])
})

test('in a private registry strangers do not learn which names there are', async t => {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_REQUIRED: 'true' } })
  await registry.publish(await registry.user('ada'), { name: 'some-crate', version: '1.0.0' })
  const headers = { accept: 'text/html' }
  for (const name of ['some_crate', 'no_crate']) {
    const answer = await registry.request('GET', `/crates/${name}/`, null, { headers })
    assert.equal(
      answer.headers.get('location'),
      `/me?next=${encodeURIComponent(`/crates/${name}/`)}`,
    )
  }
})

test('`latest` leads to the newest version, whatever was the newest before', async t => {
  const env = { PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test/team' }
  const registry = await TestRegistry.open(t, { env })
  const ada = await registry.user('ada')
  const ask = async (path: string) => {
    const { status, headers } = await registry.request('GET', path, null, {
      headers: { accept: 'text/html' },
    })
    return [status, headers.get('location'), headers.get('cache-control')]
  }
  for (const version of ['1.0.0', '1.1.0+b', '2.0.0-rc.1', '0.9.0']) {
    await registry.publish(ada, { name: 'Some-Crate', version })
    await registry.indexWorker.pages.flush()
  }
  const to = '/team/crates/Some-Crate/1.1.0+b/'
  for (const path of ['/crates/Some-Crate/latest', '/crates/some_crate/latest/'])
    assert.deepEqual(await ask(path), [302, to, 'no-cache'])
  const source = '/crates/Some-Crate/latest/src/src/lib.rs.html'
  assert.deepEqual(await ask(source), [302, `${to}src/src/lib.rs.html`, 'no-cache'])
  assert.match((await registry.shown('crates/Some-Crate/latest/index.html')) ?? '', /url=\.\.\/"/)
  assert.equal((await ask('/crates/other/latest/'))[0], 404)
})

test('config.json comes from the settings, whatever has become of the tree', async t => {
  const test = await TestRegistry.open(t)
  const ask = async () => {
    const answer = await test.request('GET', '/index/config.json')
    return [answer.status, answer.headers.get('etag'), await answer.text()]
  }
  const there = await ask()
  rmSync(join(test.registry.tree.root, 'index', 'config.json'))
  assert.deepEqual(await ask(), there)
  assert.match(String(there[2]), /^\{"dl":"http:\/\/crates\.test\/crates\//)
})
