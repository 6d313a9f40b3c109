// Mirrors daemon/http/listen.ts
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, constants, type Settings } from 'node:http2'
import { request } from 'node:https'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Hono } from 'hono'
import type { Code, Refusal } from '../../../core/error/error.ts'
import { readToEnd } from '../../../daemon/http/request-body.ts'
import { faultOf, readTls, tlsProblem } from '../../../generator/registry/certificate.ts'
import { readSettings } from '../../../generator/registry/folder.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { openServer } from '../../support/open-server.ts'
import { refusedWith } from '../../support/refusal.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-tls-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const first = makeCertificate(folder, 'first')
const second = makeCertificate(folder, 'second')

/** The common name of the certificate that the server shows, and the answer over HTTP/1.1. */
function get(url: string): Promise<{ name: string; status: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, response => {
      const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
      response.resume()
      response.on('end', () =>
        resolve({ name: String(subject.CN), status: response.statusCode ?? 0 }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** A session of HTTP/2, which ends with the test. */
function open(t: TestContext, { url }: { readonly url: string }, settings: Settings = {}) {
  const session = connect(url, { rejectUnauthorized: false, settings })
  t.after(() => session.destroy())
  return session
}

test('answers over HTTP/1.1 and HTTP/2, and stops although an HTTP/2 connection is open', async t => {
  const server = await openServer(t, { tls: first })
  server.answer(() => new Response('hello'))
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:[0-9]+$/)
  assert.deepEqual(await get(server.url), { name: 'first', status: 200 })
  const session = open(t, server)
  const [headers] = await once(session.request({ ':path': '/' }).resume(), 'response')
  assert.equal(headers[':status'], 200)
  await server.stop(30)
})

test('a client that offers only http/1.0 is served, and one that offers nothing known gets an alert', async t => {
  const server = await openServer(t, { tls: first })
  server.answer(() => new Response('hello'))
  const speak = async (...ALPNProtocols: string[]) => {
    const { hostname: host, port } = new URL(server.url)
    const options = { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols }
    const socket = connectTls(options).setEncoding('utf8')
    await once(socket, 'secureConnect')
    socket.write('GET / HTTP/1.0\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += piece
    return [socket.alpnProtocol, text.split('\r\n')[0], text.split('\r\n').at(-1)]
  }
  const status = 'HTTP/1.1 200 OK'
  assert.deepEqual(await speak('http/1.0'), ['http/1.0', status, 'hello'])
  assert.deepEqual(await speak('spdy/3', 'http/1.0'), ['http/1.0', status, 'hello'])
  assert.deepEqual(await speak('http/1.0', 'http/1.1'), ['http/1.1', status, 'hello'])
  assert.deepEqual(await speak(), [false, status, 'hello'])
  await assert.rejects(speak('spdy/3'), { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' })
})

test('a request over HTTP/2 that is reset at once does not reach the app', async t => {
  const server = await openServer(t, { tls: first })
  const asked: string[] = []
  server.answer(request => {
    asked.push(new URL(request.url).pathname)
    return new Response('hello')
  })
  const session = open(t, server)
  await once(session, 'connect')
  for (let at = 0; at < 100; at++) {
    const stream = session.request({ ':path': '/reset' })
    stream.on('error', () => undefined)
    stream.close(constants.NGHTTP2_CANCEL)
  }
  const stream = session.request({ ':path': '/kept' })
  stream.resume()
  await once(stream, 'close')
  assert.deepEqual(asked, ['/kept'])
})

test('a word that is no method is 501 over HTTP/2, and does no harm', async t => {
  const server = await openServer(t, { tls: first })
  const app = new Hono()
  app.get('/me', c => c.text('me'))
  server.answer(app.fetch)
  const session = open(t, server)
  const ask = async (method: string) => {
    const stream = session.request({ ':method': method, ':path': '/me' })
    stream.resume()
    const [headers] = await once(stream, 'response')
    return headers[':status']
  }
  for (const method of ['__proto__', 'constructor', 'toString', 'get', 'NONE'])
    assert.equal(await ask(method), 501, method)
  assert.equal(await ask('GET'), 200)
  assert.deepEqual(Object.keys(Object.prototype), [])
})

test('a change over HTTP/2 without a body is answered at once', async t => {
  const server = await openServer(t, { tls: first })
  const app = new Hono()
  app.put('/*', readToEnd({ bytes: 1000, seconds: 3600 }), c => c.text('done'))
  server.answer(app.fetch)
  const session = open(t, server)
  for (const endStream of [true, false]) {
    const stream = session.request({ ':method': 'PUT', ':path': '/' }, { endStream })
    stream.end()
    stream.resume()
    await once(stream, 'close')
  }
})

/** A frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: readonly number[]): Buffer {
  return Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
}

test('a client that breaks the protocol while its request waits ends its own connection only', async t => {
  const server = await openServer(t, { tls: first })
  const port = Number(new URL(server.url).port)
  const breakIt = async () => {
    const ALPNProtocols = ['h2']
    const client = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols })
    await once(client, 'secureConnect')
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    client.write(Buffer.concat([preface, frame(4, 0, 0, [])]))
    await once(client, 'data')
    // `GET /` of `a`, and for its answer 0 more of the window, which RFC 9113 §6.9 forbids.
    const asked = frame(1, 5, 1, [0x82, 0x84, 0x87, 0x01, 1, 0x61])
    client.write(Buffer.concat([asked, frame(8, 0, 1, [0, 0, 0, 0])]))
    client.resume()
    await once(client, 'close')
  }
  const hello = () => new Response('hello')
  server.answer(hello)
  await breakIt()
  server.answer(hello, () => undefined)
  await breakIt()
  server.answer(hello)
  assert.equal((await get(server.url)).status, 200)
})

test('a client that never begins the handshake of TLS is closed as a late head is', async t => {
  const server = await openServer(t, { tls: first, requestSeconds: -1.8 })
  const silent = createConnection({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
  await once(silent, 'close')
})

test('an answer of which a client over HTTP/2 takes nothing is given up, whatever else it sends', async t => {
  const server = await openServer(t, { tls: first, requestSeconds: -1.8 })
  server.answer(() => new Response(new Uint8Array(100)))
  const session = open(t, server, { initialWindowSize: 0 })
  const pings = setInterval(() => session.ping(() => undefined), 20)
  const stream = session.request({ ':path': '/' })
  const closed = once(stream, 'close')
  stream.resume()
  await once(stream, 'response')
  await closed
  assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
  assert.equal(session.destroyed, false)
  clearInterval(pings)
})

test('an answer over HTTP/2 lasts as long as its client takes what there is', async t => {
  const server = await openServer(t, { tls: first, requestSeconds: -1.7 })
  const timers: NodeJS.Timeout[] = []
  t.after(() => timers.forEach(timer => void clearInterval(timer)))
  const pieces = () =>
    new ReadableStream({
      start(controller) {
        let left = 10
        const giving = setInterval(() => {
          controller.enqueue(new Uint8Array(3000))
          if (--left > 0) return
          clearInterval(giving)
          controller.close()
        }, 60)
        timers.push(giving)
      },
    })
  server.answer(({ url }) => new Response(url.endsWith('/') ? pieces() : new Uint8Array(30_000)))
  const session = open(t, server, { initialWindowSize: 3000 })
  const read = async (path: string) => {
    let size = 0
    const stream = session.request({ ':path': path })
    timers.push(setInterval(() => (size += stream.read()?.length ?? 0), 60))
    await once(stream, 'close')
    return size
  }
  assert.deepEqual(await Promise.all([read('/'), read('/whole')]), [30_000, 30_000])
})

/** A server whose certificate can be renewed, and the codes of failures to do so. */
async function renewable(t: TestContext, renewalCheck: number) {
  const dir = mkdtempSync(join(folder, 'renewable-'))
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  const put = (pair: typeof files, ...names: (keyof typeof files)[]) => {
    for (const name of names) copyFileSync(pair[name], files[name])
  }
  put(first, 'cert', 'key')
  const failures: string[] = []
  const renewed: Date[] = []
  const onTlsFailure = (refusal: Refusal) => failures.push(refusal.issues[0].code)
  const onTlsRenewed = (until: Date) => renewed.push(until)
  const options = { tls: files, onTlsFailure, onTlsRenewed, renewalCheck, tlsHost: '127.0.0.1' }
  const server = await openServer(t, options)
  server.answer(() => new Response('hello'))
  return { server, put, failures, renewed }
}

test('looks for a renewed certificate when it is told to', async t => {
  const { server, put, failures } = await renewable(t, 1_000_000)
  put(second, 'cert', 'key')
  server.renewTls()
  assert.equal((await get(server.url)).name, 'second')
  const { validTo } = new X509Certificate(readFileSync(second.cert))
  assert.deepEqual(server.tlsExpiry(), new Date(validTo))
  put(first, 'key')
  server.renewTls()
  server.renewTls()
  assert.deepEqual(failures, ['tls_mismatch', 'tls_mismatch'])
  assert.equal((await get(server.url)).name, 'second')
})

test('takes up a renewed certificate, and keeps the old one while the files do not fit', async t => {
  const { server, put, failures } = await renewable(t, 20)
  put(second, 'cert')
  await until(() => failures.length > 0, 'nobody noticed that the files do not fit')
  assert.deepEqual(failures, ['tls_mismatch'])
  assert.equal((await get(server.url)).name, 'first')
  put(second, 'key')
  await until(
    async () => (await get(server.url)).name === 'second',
    'the certificate was not renewed',
  )
  assert.deepEqual(failures, ['tls_mismatch'])
})

test('certificates and keys that are missing, no PEM or of another pair are refused', () => {
  const [none, garbage] = [join(folder, 'none.pem'), join(folder, 'garbage.pem')]
  writeFileSync(garbage, 'no key')
  const rows: [cert: string, key: string, code: Code][] = [
    [none, first.key, 'tls_unreadable'],
    [first.cert, none, 'tls_unreadable'],
    [first.cert, garbage, 'tls_invalid'],
    [first.cert, second.key, 'tls_mismatch'],
  ]
  for (const [cert, key, code] of rows)
    assert.throws(() => readTls({ cert, key }), refusedWith(code), `${cert} ${key}`)
})

function daysFromNow(days: number): number {
  return Date.now() + days * 86_400_000
}

test('a certificate that clients refuse does not replace a good one; one that is good is announced', async t => {
  const { server, put, failures, renewed } = await renewable(t, 1_000_000)
  const old = makeCertificate(folder, 'old', '-days', '1')
  const foreign = makeCertificate(folder, 'foreign', '-addext', 'subjectAltName=DNS:b.example')
  t.mock.timers.enable({ apis: ['Date'], now: daysFromNow(1.5) })
  for (const [pair, code] of [
    [old, 'tls_expired'],
    [foreign, 'tls_foreign'],
  ] as const) {
    put(pair, 'cert', 'key')
    server.renewTls()
    assert.equal(failures.at(-1), code)
    assert.equal((await get(server.url)).name, 'first')
  }
  put(second, 'cert', 'key')
  server.renewTls()
  assert.equal((await get(server.url)).name, 'second')
  const { validTo } = new X509Certificate(readFileSync(second.cert))
  assert.deepEqual(renewed, [new Date(validTo)])
  t.mock.timers.setTime(daysFromNow(-30))
  assert.ok(faultOf(readTls(first), first, null)?.has('tls_early'))
})

test('a certificate that clients refuse is said at the start and in status, and replaced by any', async t => {
  const foreign = makeCertificate(folder, 'stranger', '-addext', 'subjectAltName=DNS:other.example')
  const failures: string[] = []
  const onTlsFailure = (refusal: Refusal) => failures.push(refusal.issues[0].code)
  await openServer(t, { tls: foreign, onTlsFailure, tlsHost: 'crates.example' })
  assert.deepEqual(failures, ['tls_foreign'])
  const { dir } = await registryFolder(t)
  const problem = (base: string | null, tls = foreign) => {
    const { settings } = readSettings(dir, { env: {}, flags: {} })
    return tlsProblem({ registry: { ...settings.registry, base_url: base }, tls })
  }
  assert.match(String(problem('https://crates.example')), /does not have crates\.example/)
  assert.equal(problem('https://other.example/x'), null)
  assert.equal(problem(null), null)
  // A name in the subject alone is none; an IPv6 address has brackets in a URL only.
  const bare = makeCertificate(folder, 'bare.example', '-addext', 'keyUsage=digitalSignature')
  assert.match(String(problem('https://bare.example', bare)), /does not have bare\.example/)
  const six = makeCertificate(folder, 'six', '-addext', 'subjectAltName=IP:::1')
  assert.equal(problem('https://[::1]:8443', six), null)
})

test('plain HTTP on the port of TLS is answered in plain HTTP, which says so', async t => {
  const server = await openServer(t, { tls: first })
  server.answer(() => new Response('hello'))
  const answer = await fetch(server.url.replace('https:', 'http:'))
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /^This port answers HTTPS only: write https:\/\//)
  const long = `POST / HTTP/1.1\r\n\r\n${'x'.repeat(300_000)}`
  const heads = ['DELETE', 'PATCH', 'OPTIONS', 'CONNECT'].map(
    method => `${method} / HTTP/1.1\r\n\r\n`,
  )
  for (const head of [long, ...heads, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
    const socket = createConnection(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(head)
    socket.setEncoding('utf8').on('error', () => undefined)
    const [said] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    assert.match(String(said), /^HTTP\/1\.1 400 /, head)
    socket.destroy()
  }
  assert.deepEqual(await get(server.url), { name: 'first', status: 200 })
})
