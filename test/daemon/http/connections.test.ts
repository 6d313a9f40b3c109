import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { Connections } from '../../../daemon/http/connections.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { isWaiting } from '../../support/event-loop.ts'
import { listen } from '../../support/loopback.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'

/** Far longer than a test may take. */
const HOUR = 3600

type Answer = () => void

/** A server whose answers wait until the test sends them. */
async function open(t: TestContext, server: Server | Http2SecureServer = createServer()) {
  const connections = new Connections(server)
  const answers: Answer[] = []
  const closed: number[] = []
  server.on('request', (incoming, outgoing) => {
    if (!connections.answering(incoming.socket, outgoing)) return
    outgoing.once('close', () => closed.push(answers.length))
    answers.push(() => outgoing.end('done'))
  })
  const url = await listen(server as Server)
  t.after(() => connections.stop(0))
  const come = (count: number) =>
    until(
      () => answers.length >= count,
      () => `${answers.length} of ${count} requests have come`,
    )
  return { url, connections, answers, closed, come }
}

const GET = 'GET / HTTP/1.1\r\nhost: crates.test\r\n\r\n'

test('answers to a client that has left before their turn hold nothing up', async t => {
  const { url, connections, come } = await open(t)
  const gone = await RawClient.open(url)
  await gone.send(GET.repeat(3))
  await come(3)
  gone.socket.destroy()
  const half = await RawClient.open(url)
  await half.send('GET / HTTP/1.1\r\n')
  await connections.stop(HOUR)
  await half.until((_, isClosed) => isClosed)
})

test('a client that has left ends all of its answers, also those whose turn had not come', async t => {
  const { url, answers, closed, come } = await open(t)
  const client = await RawClient.open(url)
  await client.send(GET.repeat(20))
  await come(20)
  answers[0]?.()
  await client.until(received => received.includes('done'))
  client.socket.destroy()
  await until(
    () => closed.length === 20,
    () => `${closed.length} answers have ended`,
  )
})

test('a client may ask ahead 64 times, and is cut off beyond', async t => {
  const { url, answers, come } = await open(t)
  const patient = await RawClient.open(url)
  await patient.send(GET.repeat(65))
  await come(65)
  for (const answer of answers.splice(0)) answer()
  await patient.until(received => received.match(/done/g)?.length === 65)
  await patient.send(GET.repeat(65))
  await come(65)
  assert.equal(patient.isClosed, false)
  const greedy = await RawClient.open(url)
  await greedy.send(GET.repeat(1000))
  await greedy.until((_, isClosed) => isClosed)
  assert.ok(answers.length <= 2 * 65, `${answers.length} requests are worked on`)
})

test('all answers that were asked for ahead are sent, and the connection is closed then', async t => {
  const { url, connections, answers, come } = await open(t)
  const client = await RawClient.open(url)
  await client.send(GET.repeat(3))
  await come(3)
  const stopping = connections.stop(HOUR)
  // The last is ready first, and has to wait for the others.
  for (const answer of answers.toReversed()) {
    assert.ok(await isWaiting(stopping))
    answer()
  }
  await client.until((_, isClosed) => isClosed)
  await stopping
  assert.equal(client.received.match(/done/g)?.length, 3)
})

test('a request that had arrived when the server was stopped is answered', async t => {
  const server = createServer()
  const { url, connections, answers, come } = await open(t, server)
  const accepted = once(server, 'connection')
  const client = await RawClient.open(url)
  await accepted
  client.socket.write(GET)
  const stopping = connections.stop(HOUR)
  // The server is so busy that it looks at its connections before it has read the request.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  await come(1)
  answers[0]?.()
  await stopping
  assert.match(client.received, /done/)
})

test('a connection that was never made secure holds nothing up, while others are answered', async t => {
  const { url, connections, answers, come, client } = await openSecure(t)
  const silent = await RawClient.open(url)
  let received = ''
  client.on('data', chunk => {
    received += chunk
  })
  client.write(GET)
  await come(1)
  const stopping = connections.stop(HOUR)
  assert.ok(await isWaiting(stopping))
  for (const answer of answers) answer()
  await stopping
  await until(
    () => received.endsWith('done\r\n0\r\n\r\n') || received.endsWith('done'),
    () => received,
  )
  await silent.until((_, isClosed) => isClosed)
})

test('what lasts too long is cut, whatever it is', async t => {
  const { url, connections, come, client } = await openSecure(t)
  const silent = await RawClient.open(url)
  client.on('error', () => {})
  client.write(GET)
  await come(1)
  await connections.stop(0.05)
  await until(() => client.destroyed && silent.isClosed, 'the connection is open')
})

/** Such a server with a certificate, and a client of it. */
async function openSecure(t: TestContext) {
  const files = makeCertificate(folderOf(t), 'tls')
  const pair = { cert: readFileSync(files.cert), key: readFileSync(files.key) }
  const server = await open(t, createSecureServer({ ...pair, allowHTTP1: true }))
  const { port, hostname: host } = new URL(server.url)
  const client = connect({ host, port: Number(port), rejectUnauthorized: false })
  t.after(() => client.destroy())
  return { ...server, client }
}
