// Mirrors daemon/http/listen.ts: addresses
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, linkSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { clientAddress } from '../../../daemon/http/client-address.ts'
import { listen } from '../../../daemon/http/listen.ts'
import type { AuditEvent } from '../../../generator/accounts/audit.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { plimsollHere, serveHere } from '../../support/program.ts'
import { refusedWith } from '../../support/refusal.ts'
import { TestRegistry } from '../../support/registry.ts'
import { scratch } from '../../support/scratch.ts'

const options = { tls: null, onTlsFailure: () => assert.fail() }

async function get(socketPath: string, path: string): Promise<string> {
  const [response] = await once(request({ socketPath, path }).end(), 'response')
  return text(response)
}

test('a Unix socket is listened on, a stale one replaced, and nothing else touched', async t => {
  const folder = scratch(new Cleanup(t))
  const socket = join(folder, 'stale.sock')
  const other = createServer()
  // Node unlinks its socket when it closes; a process that was killed does not.
  await new Promise<void>(resolve => other.listen(`${socket}.made`, resolve))
  linkSync(`${socket}.made`, socket)
  await assert.rejects(listen({ socket, ...options }), refusedWith('address_taken'))
  await new Promise(resolve => other.close(resolve))
  const server = await listen({ socket, ...options })
  t.after(() => server.stop(0))
  server.answer(() => new Response('here'))
  assert.equal(server.url, `unix:${socket}`)
  // To connect, a proxy of the group has to be allowed to write.
  assert.equal(statSync(socket).mode & 0o777, 0o660)
  assert.equal(await get(socket, '/'), 'here')
  await server.stop(0)
  assert.equal(existsSync(socket), false)
  const file = join(folder, 'file')
  writeFileSync(file, 'precious')
  await assert.rejects(listen({ socket: file, ...options }), refusedWith('address_taken'))
  assert.ok(existsSync(file))
})

test('serve on a Unix socket needs a base URL, and then answers there', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const dir = join(folder, 'registry')
  await plimsollHere(['init', '--dir', dir])
  const socket = join(folder, 'plimsoll.sock')
  const refused = await plimsollHere(['serve', '--dir', dir, '--listen', `unix:${socket}`])
  const said = `error: it is not known at which address users reach unix:${socket}; name it with --base-url, or as \`registry.base_url\`\n`
  assert.deepEqual([refused.code, refused.stderr], [2, said])
})

test('an address that means every address of the machine is warned of', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  await plimsollHere(['init', '--dir', dir])
  const daemon = await serveHere(cleanup, dir, {}, '0.0.0.0:0')
  assert.match(
    daemon.log(),
    /^warning: listening on every address of this machine, but .*base_url/m,
  )
})

test('behind a socket the proxy says who the client is', () => {
  const c = (forwarded?: string) =>
    ({ env: { incoming: { socket: {} } }, req: { header: () => forwarded } }) as never
  const behind = clientAddress([], true)
  assert.equal(behind(c('192.0.2.9, 192.0.2.1')), '192.0.2.1')
  assert.equal(behind(c()), 'unknown')
  assert.throws(() => clientAddress([])(c('192.0.2.1')), refusedWith('body_lost'))
})

test('a change of a client who leaves at once has their address in audit and log', async t => {
  const test = await TestRegistry.open(t)
  const alice = await test.user('alice')
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  const init = { method: 'DELETE', headers: { authorization: alice } }
  const yank = (socket: { remoteAddress?: string }) =>
    test.app.request('/api/v1/crates/demo/1.0.0/yank', init, { incoming: { socket } })
  assert.equal((await yank({})).status, 400)
  const socket: { remoteAddress?: string } = { remoteAddress: '192.0.2.1' }
  const answer = yank(socket)
  delete socket.remoteAddress
  assert.equal((await answer).status, 200)
  const { audit } = await test.everything()
  const yanks = (audit as AuditEvent[]).filter(({ action }) => action === 'yank')
  assert.deepEqual([yanks.length, yanks[0]?.address], [1, '192.0.2.1'])
  assert.equal((JSON.parse(test.logged.at(-1) ?? '') as AuditEvent).address, '192.0.2.1')
})

test('a prefix works whether or not the proxy takes it off', async t => {
  const env = { PLIMSOLL_REGISTRY_BASE_URL: 'https://example.com/cargo/registry' }
  const test = await TestRegistry.open(t, { env, git: true })
  await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
  for (const path of [
    '/index/config.json',
    '/index/de/mo/demo',
    '/api/v1/crates/demo',
    '/index.git/info/refs?service=git-upload-pack',
    '/me',
  ]) {
    const [plain, prefixed] = await Promise.all(
      [path, `/cargo/registry${path}`].map(place => test.app.request(place)),
    )
    assert.deepEqual([plain?.status, prefixed?.status], [200, 200], path)
    if (path !== '/me') assert.equal(await prefixed?.text(), await plain?.text(), path)
  }
  const bare = await test.app.request('/cargo/registry?a=b')
  assert.deepEqual([bare.status, bare.headers.get('location')], [301, './registry/?a=b'])
})

test('a prefix that is one of our own paths is not taken off', async t => {
  const env = { PLIMSOLL_REGISTRY_BASE_URL: 'https://example.com/crates' }
  const test = await TestRegistry.open(t, { env })
  await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
  assert.equal((await test.app.request('/crates/demo/demo-1.0.0.crate')).status, 200)
})

for (const path of ['', '/', '/a/dl/']) {
  test(`a \`dl\` of ours without markers is answered: ${path || 'the base URL'}`, async t => {
    const base = 'https://example.com/cargo'
    const env = { PLIMSOLL_REGISTRY_BASE_URL: base, PLIMSOLL_REGISTRY_DL: `${base}${path}` }
    const test = await TestRegistry.open(t, { env })
    await test.publish(await test.user('alice'), { name: 'demo', version: '1.0.0' })
    const config = await (await test.app.request('/index/config.json')).json()
    const asked = `${(config as { dl: string }).dl}/demo/1.0.0/download`
    assert.ok(!asked.slice('https://'.length).includes('//'), asked)
    assert.equal((await test.app.request(asked)).status, 200, asked)
  })
}
