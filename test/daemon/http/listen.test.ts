import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { isWaiting } from '../../support/event-loop.ts'
import { openServer } from '../../support/open-server.ts'
import { head, RawClient } from '../../support/raw-client.ts'
import { refusedWith } from '../../support/refusal.ts'
import { until } from '../../support/until.ts'

const GET = head('GET', '/', {})

test('a request that comes before there is an app waits for it', async t => {
  const server = await openServer(t)
  const early = fetch(server.url)
  assert.ok(await isWaiting(early))
  server.answer(() => new Response('now'))
  assert.equal(await (await early).text(), 'now')
})

test('a request of HTTP/1.0 needs no host', async t => {
  const server = await openServer(t)
  server.answer(({ url }) => new Response(new URL(url).pathname))
  const client = await RawClient.open(server.url)
  await client.send('GET /healthz HTTP/1.0\r\n\r\n')
  assert.match(await client.until((_, isClosed) => isClosed), /^HTTP\/1\.1 200 [\s\S]*\/healthz/)
})

test('an address that is not of this machine is refused', async t => {
  await assert.rejects(openServer(t, { host: '192.0.2.1' }), refusedWith('address_taken'))
})

const hasIpv6 = Object.values(networkInterfaces()).some(list =>
  list?.some(listener => listener.address === '::1'),
)

test('IPv6 addresses stand in brackets', {
  skip: hasIpv6 ? false : 'this machine has no ::1',
}, async t => {
  const server = await openServer(t, { host: '::1' })
  server.answer(() => new Response('six'))
  assert.match(server.url, /^http:\/\/\[::1\]:\d+$/)
  assert.equal(await (await fetch(server.url)).text(), 'six')
  const { port } = new URL(server.url)
  await assert.rejects(
    openServer(t, { host: '::1', port: Number(port) }),
    /^Refusal: cannot listen on \[::1\]:\d+: /,
  )
})

test('a head that does not end is given up soon after its time', async t => {
  const { url } = await openServer(t, { requestSeconds: -1 })
  const client = await RawClient.open(url)
  await client.send('GET / HTTP/1.1\r\nhost: x\r\nx: ')
  const isGivenUp = async () => {
    await client.send('a')
    return client.received.startsWith('HTTP/1.1 408 ')
  }
  await until(isGivenUp, () => 'it may go on for longer', 5000)
})

test('stopping closes connections that are kept, or have sent nothing yet, and takes no more', async t => {
  const server = await openServer(t)
  server.answer(() => new Response('x'))
  const client = await RawClient.open(server.url)
  await client.send(GET)
  await client.until(received => received.endsWith('x'))
  const silent = await RawClient.open(server.url)
  const half = await RawClient.open(server.url)
  await half.send('GET / HTTP/1.1\r\n')
  // Were it to wait for one of them, then for an hour.
  await server.stop(3600)
  for (const socket of [client, silent, half]) await socket.until((_, isClosed) => isClosed)
  assert.deepEqual([client.isClosed, silent.isClosed, half.isClosed], [true, true, true])
  await assert.rejects(fetch(server.url))
})

test('hosts and targets that are none get 400, and an absolute target its path', async t => {
  const server = await openServer(t)
  server.answer(request => new Response(new URL(request.url).pathname))
  const status = async (text: string) => {
    const client = await RawClient.open(server.url)
    await client.send(text)
    const isWhole = (received: string, isClosed: boolean) => isClosed || /\r\n\r\n/.test(received)
    return (await client.until(isWhole)).slice(9, 12)
  }
  for (const host of ['a b', 'a/../b'])
    assert.equal(await status(head('GET', '/', { host })), '400')
  assert.equal(await status(head('GET', '/a\\..\\b', {})), '400')
  assert.equal(await status('GET / HTTP/1.1\r\n\r\n'), '400')
  assert.equal(await status(head('GET', 'http://elsewhere/x', {})), '200')
  assert.equal(await status(head('GET', '/', { big: 'x'.repeat(20_000) })), '431')
})
