import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Refusal } from '../../../core/error/error.ts'
import { PLIMSOLL_SCHEMA } from '../../../generator/database/migrations.ts'
import { WebFailure } from '../../../generator/web/failure.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { listen } from '../../support/loopback.ts'
import { newWeb, serveTls, serveWeb } from '../../support/web-server.ts'

const LIMITS = { max: 1000, timeoutMs: 60_000 }

/** Expects a request to fail with these facts; the failure. */
async function fails(
  asked: Promise<unknown>,
  message: string | RegExp,
  { isNetwork = false, status = null }: Partial<WebFailure> = {},
): Promise<WebFailure> {
  const error = await asked.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof WebFailure, String(error))
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
  assert.deepEqual([error.isNetwork, error.status], [isNetwork, status])
  return error
}

const NETWORK = { isNetwork: true }

/** A server that writes exactly this to every connection, and ends it. */
async function serveRaw(t: TestContext, text: string): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(text, 'latin1'))
  })
  new Cleanup(t).add(() => void server.close())
  return listen(server)
}

test('an answer has its bytes and validators, and what it says of the asker is true', async t => {
  const seen: (string | undefined)[][] = []
  const url = await serveWeb(t, ({ headers, url = '' }, response) => {
    seen.push([headers['user-agent'], headers['accept-encoding'], headers['if-none-match']])
    if (headers['if-none-match'] === '"a"')
      return void response.writeHead(304, { etag: '"a"' }).end()
    const gone = /^\/(404|410|451|403|503)$/.exec(url)?.[1]
    if (gone) return void response.writeHead(Number(gone), { 'retry-after': '7' }).end('no')
    response.writeHead(200, { etag: '"a"', 'last-modified': 'Thu, 26 Nov 2026 00:00:00 GMT' })
    response.end('hello')
  })
  const web = newWeb(t, [url], { contact: 'Jörg <crates@example.com>' })
  const { bytes, ...answer } = await web.ask(url, LIMITS)
  assert.equal(bytes.toString(), 'hello')
  const lastModified = 'Thu, 26 Nov 2026 00:00:00 GMT'
  assert.deepEqual(answer, { status: 200, etag: '"a"', lastModified })
  const same = await web.ask(url, { ...LIMITS, etag: '"a"' })
  assert.deepEqual([same.status, same.bytes.length, same.etag], [304, 0, '"a"'])
  for (const status of [404, 410, 451])
    assert.equal((await web.ask(`${url}/${status}`, LIMITS)).status, 404)
  await fails(web.ask(`${url}/403`, LIMITS), 'HTTP status 403', { status: 403 })
  const busy = await fails(web.ask(`${url}/503`, LIMITS), 'HTTP status 503', { status: 503 })
  assert.equal(busy.after, 7000)
  assert.equal((await web.read(url, 5))?.toString(), 'hello')
  assert.equal(await web.take(`${url}/404`, async bytes => bytes), null)
  const contact = Buffer.from(' (Jörg <crates@example.com>)').toString('latin1')
  const agent = `plimsoll/${PLIMSOLL_SCHEMA.version}${contact}`
  for (const [sent] of seen) assert.equal(sent, agent)
  const encodings = seen.map(([, encoding]) => encoding)
  assert.deepEqual(encodings, [...Array(8).fill('gzip'), undefined])
  const bare = newWeb(t, [url])
  await bare.ask(url, LIMITS)
  assert.equal(seen.at(-1)?.[0], `plimsoll/${PLIMSOLL_SCHEMA.version}`)
})

test('a server that is silent, slow or gone is given up', async t => {
  const url = await serveWeb(t, (request, response) => {
    if (request.url === '/silent') return
    response.writeHead(200)
    response.write('x')
    if (request.url === '/stops') return
    // A part every few milliseconds is no silence, but a body of 64 KiB would take minutes.
    if (request.url === '/trickles') {
      const timer = setInterval(() => response.write('x'), 5)
      return void response.on('close', () => clearInterval(timer))
    }
    const drip = () => {
      if (!response.destroyed) response.write('x', () => setImmediate(drip))
    }
    drip()
  })
  const patient = newWeb(t, [url], { silenceMs: 60_000 })
  const short = { max: 1e9, timeoutMs: 30 }
  for (const path of ['/silent', '/stops', '/drips'])
    await fails(patient.ask(url + path, short), 'it takes too long', NETWORK)
  const hasty = newWeb(t, [url], { silenceMs: 30, pause: 1 })
  const silent = 'the server does not respond'
  for (const path of ['/silent', '/stops', '/trickles'])
    await fails(hasty.ask(url + path, LIMITS), silent, NETWORK)
  const nobody = newWeb(t, ['http://127.0.0.1:1']).ask('http://127.0.0.1:1/', LIMITS)
  await fails(nobody, /ECONNREFUSED/, NETWORK)
  await fails(hasty.ask('ftp://127.0.0.1/', LIMITS), 'it is not a URL that can be read')
})

test('no more is taken than allowed, also of bytes that grow when they are decoded', async t => {
  const bomb = gzipSync(Buffer.alloc(5_000_000))
  const url = await serveWeb(t, (request, response) => {
    const [, encoding, size] = (request.url ?? '').split('/')
    const plain = Buffer.alloc(Number(size), 'x')
    if (encoding === 'plain') return void response.end(plain)
    const whole = encoding === 'bomb' ? bomb : gzipSync(plain)
    response.writeHead(200, { 'content-encoding': encoding === 'br' ? 'br' : 'gzip' })
    response.end(encoding === 'cut' ? whole.subarray(0, -9) : whole)
  })
  const web = newWeb(t, [url])
  const large = 'it is larger than the limit of 1000 B'
  for (const encoding of ['plain', 'gzip']) {
    const { bytes } = await web.ask(`${url}/${encoding}/1000`, LIMITS)
    assert.equal(bytes.toString(), 'x'.repeat(1000))
    await fails(web.ask(`${url}/${encoding}/1001`, LIMITS), large)
    await assert.rejects(web.read(`${url}/${encoding}/1001`, 1000), Refusal)
  }
  await fails(web.ask(`${url}/bomb/0`, LIMITS), large)
  await fails(web.ask(`${url}/cut/100`, LIMITS), 'it is not the gzip that it says it is')
  await fails(web.ask(`${url}/br/100`, LIMITS), 'it is encoded as br')
  // As in Cargo, what was not asked to be encoded is the file itself.
  const size = await web.take(`${url}/gzip/1000`, async bytes => {
    let size = 0
    for await (const part of bytes ?? []) size += part.length
    return size
  })
  assert.equal(size, gzipSync(Buffer.alloc(1000, 'x')).length)
})

test('a body that is cut is no answer, and what comes after a body is no part of it', async t => {
  const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n'
  const cut = await serveRaw(t, `${head}Content-Length: 10\r\n\r\nhello`)
  const chunk = await serveRaw(t, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`)
  const long = await serveRaw(t, `${head}Content-Length: 5\r\n\r\nhello world`)
  const web = newWeb(t, [cut])
  await fails(web.ask(cut, LIMITS), /body length does not match/, NETWORK)
  await fails(web.ask(chunk, LIMITS), /Invalid EOF/, NETWORK)
  assert.equal((await web.ask(long, LIMITS)).bytes.toString(), 'hello')
})

test('a redirect leads neither astray nor away from TLS, and takes no token along', async t => {
  const heard: (string | undefined)[] = []
  const other = await serveWeb(t, ({ headers }, response) => {
    heard.push(headers.authorization)
    response.end('there')
  })
  const to = (response: ServerResponse, location: string) =>
    void response.writeHead(302, { location }).end()
  const url = await serveWeb(t, ({ url = '', headers }, response) => {
    heard.push(headers.authorization)
    if (url === '/loop') return to(response, '/loop')
    to(response, decodeURIComponent(url.slice(1)).replace('OTHER', other))
  })
  const { url: secure, caFile } = await serveTls(t, (_, response) => to(response, other))
  const web = newWeb(t, [url, secure], { caFile })
  assert.equal((await web.ask(`${url}/OTHER`, LIMITS)).bytes.toString(), 'there')
  assert.deepEqual(heard.splice(0), ['plim_secret', undefined])
  await fails(web.ask(`${url}/loop`, LIMITS), 'it redirects too often')
  assert.equal(heard.length, 6)
  await fails(web.ask(secure, LIMITS), 'it redirects from https to http')
  const astray = /^it redirects, but .* is not a URL that can be read$/
  for (const location of ['', 'file:///etc/passwd', 'http://me:pw@127.0.0.1/', 'http://['])
    await fails(web.ask(`${url}/${encodeURIComponent(location)}`, LIMITS), astray)
})

test('only hosts that were named may have a private address, whatever leads to another', async t => {
  const reached: string[] = []
  const target = await serveWeb(t, ({ headers }, response) => {
    reached.push(headers.host ?? '')
    response.end('here')
  })
  const { port } = new URL(target)
  const named = await serveWeb(t, ({ url = '' }, response) => {
    const location = `http://${decodeURIComponent(url.slice(1))}:${port}/`
    response.writeHead(302, { location }).end()
  })
  const web = newWeb(t, [named])
  const others = ['127.0.0.2', '2130706434', '0177.0.0.2', '0x7f.2', '127.2', '[::1]', 'localhost']
  const forms = ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '10.0.0.1', '169.254.169.254', '0']
  for (const host of [...others, ...forms]) {
    const refused = /^the address of \S+ is private \(\S+\), and only hosts that were named/
    const redirect = `${named}/${encodeURIComponent(host)}`
    await fails(web.ask(redirect, LIMITS), refused)
    await fails(web.ask(`http://${host}:${port}/`, LIMITS), refused)
    await assert.rejects(
      web.take(redirect, async () => undefined),
      /has the private address \S+, and only hosts that the command names may have one; if the \.crate files are there, name their URL with --crates/,
    )
  }
  assert.deepEqual(reached, [])
  web.trust(`http://localhost:${port}/`)
  assert.equal((await web.ask(`${named}/localhost`, LIMITS)).bytes.toString(), 'here')
})
