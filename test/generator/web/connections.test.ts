import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { connect, createServer as createNetServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Web } from '../../../generator/web/web.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode, run } from '../../support/command.ts'
import { closeServer, listen } from '../../support/loopback.ts'
import { root } from '../../support/plimsoll.ts'
import { refusedWith } from '../../support/refusal.ts'
import { newWeb, serveTls, serveWeb } from '../../support/web-server.ts'
import { folderOf } from '../../support/workplace.ts'

const LIMITS = { max: 1000, timeoutMs: 60_000 }

/** A proxy as companies have it: it answers plain requests itself, and notes what it is asked. */
async function startProxy(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const recordRequest = (method = '', url = '', authorization = '') =>
    asked.push([method, url, authorization].filter(Boolean).join(' '))
  const server = createServer(({ method, url, headers }, response) => {
    recordRequest(method, url, headers['proxy-authorization'])
    response.end('by proxy')
  })
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    recordRequest('CONNECT', url, headers['proxy-authorization'])
    if (url.startsWith('denied.')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const { hostname, port } = new URL(`http://${url}`)
    const through = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      through.pipe(socket).pipe(through)
    })
    const end = () => void [through, socket].map(side => side.destroy())
    for (const side of [through, socket]) side.on('error', end)
    new Cleanup(t).add(end)
  })
  const url = await listen(server)
  new Cleanup(t).add(() => closeServer(server))
  return { url, asked }
}

test('requests go through the proxy of the environment, except to hosts of NO_PROXY', async t => {
  const { url: proxy, asked } = await startProxy(t)
  const { url: secure, caFile } = await serveTls(t, (_, response) => response.end('secure'))
  const direct = await serveWeb(t, (_, response) => response.end('direct'))
  const env = { HTTP_PROXY: proxy, https_proxy: proxy.replace('http://', 'http://me:p%40ss@') }
  const web = newWeb(t, [secure, direct], { caFile, env })
  const textOf = async (from: Web, url: string) => (await from.ask(url, LIMITS)).bytes.toString()
  assert.equal(await textOf(web, `${secure}/x`), 'secure')
  assert.equal(await textOf(web, 'http://crates.invalid/a?b'), 'by proxy')
  const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
  assert.deepEqual(asked.splice(0), [
    `CONNECT ${new URL(secure).host} ${basic}`,
    'GET http://crates.invalid/a?b',
  ])
  await assert.rejects(textOf(web, 'https://denied.invalid/'), /Proxy response \(403\)/)
  for (const url of ['http://10.0.0.1/', 'https://[fd00::1]/'])
    await assert.rejects(textOf(web, url), /^WebFailure: the address of \S+ is private/)
  assert.deepEqual(asked.splice(0), [`CONNECT denied.invalid:443 ${basic}`])
  for (const NO_PROXY of ['127.0.0.1', 'example.com, 127.0.0.1', '*']) {
    const past = newWeb(t, [secure, direct], { caFile, env: { ...env, NO_PROXY } })
    assert.equal(await textOf(past, secure), 'secure')
    assert.equal(await textOf(past, direct), 'direct')
    assert.deepEqual(asked, [])
  }
  // A name that goes to no proxy is looked up here.
  const own = newWeb(t, [], { env: { ...env, no_proxy: 'localhost' } })
  const byName = direct.replace('127.0.0.1', 'localhost')
  await assert.rejects(textOf(own, byName), /the address of localhost is private/)
  const bare = newWeb(t, [], { env: { http_proxy: new URL(proxy).host } })
  assert.equal(await textOf(bare, 'http://crates.invalid/'), 'by proxy')
})

test('a proxy or a server that says nothing is given up in time', async t => {
  const server = createNetServer(socket => new Cleanup(t).add(() => void socket.destroy()))
  const url = await listen(server)
  new Cleanup(t).add(() => void server.close())
  const secure = url.replace('http:', 'https:')
  for (const [asked, env] of [
    [secure, {}],
    ['https://crates.invalid/', { HTTPS_PROXY: url }],
    ['https://crates.invalid/', { HTTPS_PROXY: secure }],
    ['http://crates.invalid/', { HTTP_PROXY: url }],
  ] as const) {
    const web = newWeb(t, [asked], { env })
    const sent = web.send(asked, { method: 'POST', body: '{}', timeoutMs: 50 })
    await assert.rejects(sent, /does not respond|takes too long/, `${asked} ${JSON.stringify(env)}`)
    await web.close()
  }
})

test('certificates of the own file are trusted besides the usual ones', async t => {
  const { url, caFile } = await serveTls(t, (_, response) => response.end('secure'))
  assert.equal((await newWeb(t, [url], { caFile }).ask(url, LIMITS)).status, 200)
  await assert.rejects(newWeb(t, [url]).ask(url, LIMITS), /self-signed certificate/)
})

test('a file without certificates and a proxy without an address are refused at once', t => {
  const empty = join(folderOf(t), 'empty.pem')
  writeFileSync(empty, 'nothing')
  for (const caFile of [empty, `${empty}.gone`])
    assert.throws(() => new Web({ caFile }), refusedWith('tls_unreadable'))
  const refused =
    'the variable HTTPS_PROXY is not the URL of a proxy, such as "http://proxy.example.com:3128"'
  for (const https_proxy of ['socks5://me:secret@proxy', 'http://', 'a b'])
    assert.throws(() => new Web({ env: { https_proxy } }), { message: refused })
})

test('one server gets at most 32 connections, which are used again', async t => {
  const sockets = new Set<Socket>()
  const waiting: ServerResponse[] = []
  const url = await serveWeb(t, ({ socket }, response) => {
    sockets.add(socket)
    waiting.push(response)
    if (waiting.length >= 32) for (const held of waiting) held.end()
  })
  const web = newWeb(t, [url])
  const asked = Array.from({ length: 100 }, (_, at) => web.ask(`${url}/${at}`, LIMITS))
  await Promise.all(asked)
  assert.equal(sockets.size, 32)
})

test('an idle connection keeps no process alive', async t => {
  const url = await serveWeb(t, (_, response) => response.end('hello'))
  const module = pathToFileURL(join(root, 'dist', 'generator', 'web', 'web.js'))
  const lines = [
    `import { Web } from '${module.href}'`,
    'const web = new Web({})',
    `web.trust('${url}')`,
    `console.log((await web.read('${url}', 9)).toString())`,
  ]
  const program = join(folderOf(t), 'program.mjs')
  writeFileSync(program, lines.join('\n'))
  const options = { cwd: folderOf(t), env: process.env, timeoutMs: 20_000 }
  const ended = await run(process.execPath, [program], options)
  assert.equal(expectCode('program', ended, 0).stdout, 'hello\n')
})

test('a client that is closed ends what is running', async t => {
  const server = createServer()
  const url = await listen(server)
  new Cleanup(t).add(() => closeServer(server))
  const web = newWeb(t, [url])
  const asked = assert.rejects(web.ask(url, LIMITS), { isNetwork: true })
  await once(server, 'request')
  await web.close()
  await asked
})
