import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { download, ImageProblem } from '../../../generator/images/download.ts'
import { fetchAll, fetchImage } from '../../../generator/images/fetch.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { type ImageServer, png, serveImages } from '../../support/image-server.ts'

const RULES = { bytes: 10_000, networks: ['127.0.0.1'], seconds: 20 }

const serve = (t: TestContext, answer: RequestListener): Promise<ImageServer> =>
  serveImages(new Cleanup(t), answer)

/** Returns the problem of a download, and whether it is final. */
async function problem(url: string, rules = RULES): Promise<[string, boolean]> {
  try {
    await download(url, rules)
  } catch (error) {
    if (!(error instanceof ImageProblem)) throw error
    return [error.message, error.isFinal]
  }
  return assert.fail(`${url} was downloaded`)
}

const NOT_PUBLIC = ['its host has no public address, or the port is unusual', true]

test('an image is downloaded without cookies or a referrer, always with the same headers', async t => {
  const server = await serve(t, (request, response) => {
    if (request.url === '/b.png') response.end(png(1))
    else response.writeHead(302, { location: './b.png', 'set-cookie': 'a=b; Path=/' }).end()
  })
  assert.deepEqual(await download(`${server.url}/a`, RULES), png(1))
  assert.deepEqual(server.asked, ['/a', '/b.png'])
  for (const { host, connection, ...headers } of server.headers) {
    assert.equal(host, `127.0.0.1:${server.port}`)
    assert.equal(connection, 'close')
    assert.deepEqual(headers, {
      'user-agent': 'plimsoll-images',
      accept: 'image/*',
      'accept-encoding': 'identity',
    })
  }
})

test('no address of this machine or its networks is connected to, by whatever name', async t => {
  const server = await serve(t, (_, response) => response.end(png(1)))
  const rules = { ...RULES, networks: [] }
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']
  for (const host of [...hosts, '0177.0.0.1', '0', '169.254.169.254', '[fe80::1]', '127.0.0.1.'])
    assert.deepEqual(await problem(`http://${host}:${server.port}/`, rules), NOT_PUBLIC, host)
  assert.deepEqual(server.asked, [])
})

test('a redirect leads to no other address than the first request could', async t => {
  const targets = new Map<string, string>()
  const server = await serve(t, (request, response) => {
    const location = targets.get(request.url ?? '') ?? '/'
    response.writeHead(301, { location }).end()
  })
  const inside = [
    'http://[::1]/',
    'http://169.254.169.254/latest/',
    'http://10.0.0.1/',
    '//[::ffff:10.0.0.1]/',
  ]
  for (const [at, location] of inside.entries()) {
    targets.set(`/${at}`, location)
    assert.deepEqual(await problem(`${server.url}/${at}`), NOT_PUBLIC, location)
  }
  for (const location of ['file:///etc/passwd', 'ftp://example.com/', 'data:image/png;base64,AA']) {
    targets.set('/x', location)
    assert.match((await problem(`${server.url}/x`))[0], /neither http nor https/)
  }
  targets.set('/user', `http://a:b@127.0.0.1:${server.port}/`)
  assert.match((await problem(`${server.url}/user`))[0], /password/)
  server.asked.length = 0
  assert.match((await problem(`${server.url}/loop`))[0], /more than 3 redirects/)
  assert.equal(server.asked.length, 4)
})

test('a public host is asked on the ports of the web only', async () => {
  assert.deepEqual(await problem('http://1.1.1.1:22/'), NOT_PUBLIC)
  assert.deepEqual(await problem('http://[2606:4700::1111]:6379/'), NOT_PUBLIC)
})

const TOO_LARGE = ['it is larger than 10000 bytes', true]

test('a body has a limit, whatever its headers say', async t => {
  const server = await serve(t, (request, response) => {
    if (request.url === '/announced') response.writeHead(200, { 'content-length': 1e9 })
    const more = () => {
      while (response.write(Buffer.alloc(1000))) if (response.destroyed) return
      response.once('drain', more)
    }
    more()
  })
  assert.deepEqual(await problem(`${server.url}/announced`), TOO_LARGE)
  assert.deepEqual(await problem(`${server.url}/endless`), TOO_LARGE)
})

test('a slow server is given up, in its headers and in its body', async t => {
  const server = await serve(t, (request, response) => {
    if (request.url === '/body') response.write('x')
  })
  const rules = { ...RULES, seconds: 0.2 }
  for (const path of ['headers', 'body'])
    assert.deepEqual(await problem(`${server.url}/${path}`, rules), [
      'it takes too much time',
      false,
    ])
})

test('a host that is too slow once is not asked for the rest', async t => {
  const slow = await serve(t, () => undefined)
  const quick = await serve(t, (_, response) => response.end(png(1)))
  const rules = { ...RULES, seconds: 0.2 }
  const urls = Array.from({ length: 10 }, (_, at) => `${slow.url}/${at}`)
  const results = await fetchAll([...urls, `${quick.url}/`], url => fetchImage(url, rules))
  assert.ok(slow.asked.length <= 2, `${slow.asked.length} requests`)
  assert.equal([...results.values()].filter(one => 'problem' in one && !one.isFinal).length, 10)
  assert.ok('path' in (results.get(`${quick.url}/`) ?? {}))
})

test('a compressed answer is refused, so that nothing unpacks a bomb', async t => {
  const server = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1e7)))
  })
  assert.match((await problem(`${server.url}/`))[0], /compresses/)
})

test('what may pass is tried again, the rest is not', async t => {
  const server = await serve(t, (request, response) => {
    const status = Number(request.url?.slice(1))
    if (status === 0) request.socket.destroy()
    else response.writeHead(status).end()
  })
  const finals: [number, boolean][] = []
  for (const status of [204, 304, 400, 404, 410, 429, 500, 503])
    finals.push([status, (await problem(`${server.url}/${status}`))[1]])
  assert.deepEqual(finals, [
    [204, true],
    [304, true],
    [400, true],
    [404, false],
    [410, true],
    [429, false],
    [500, false],
    [503, false],
  ])
  assert.equal((await problem(`${server.url}/0`))[1], false)
  assert.equal((await problem('http://nothing.invalid/'))[1], false)
})
