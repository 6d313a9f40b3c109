// `npm run check:deploy`: real nginx with the configurations of deploy/nginx/ before a real daemon.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Cargo } from '../support/cargo.ts'
import { makeCertificate } from '../support/certificate.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, watch } from '../support/command.ts'
import { freePort } from '../support/loopback.ts'
import { MadeUpUpstream } from '../support/made-up-upstream.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { writeProject } from '../support/project.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { serveWeb } from '../support/web-server.ts'

const PATH = `${process.env.PATH}:/usr/sbin`
const isMissing = spawnSync('nginx', ['-v'], { env: { PATH } }).error !== undefined
const skip = isMissing ? 'there is no nginx' : false

for (const [config, port] of [
  ['nginx.conf', 8097],
  ['private.conf', 8096],
] as const)
  test(`${config}: publishes go to the daemon, files come with their headers`, {
    skip,
  }, async t => {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    const dir = join(folder, 'registry')
    const url = `http://127.0.0.1:${port}`
    const init = await plimsoll(folder, ['init', '--dir', dir, '--base-url', url])
    expectCode('init', init, 0)
    expectCode('user add', await plimsoll(folder, ['user', 'add', 'alice', '--dir', dir]), 0)
    const created = await plimsoll(folder, ['token', 'create', '--user', 'alice', '--dir', dir])
    const authorization = created.stdout.trim()
    // Whoever connects to nginx here is a proxy before it.
    const daemon = await serve(cleanup, dir, {
      PLIMSOLL_SERVER_TRUSTED_PROXIES: '127.0.0.1',
      PLIMSOLL_UPSTREAM_CRATES_IO_OFFLINE: 'true',
    })
    const logged = await startNginx(cleanup, folder, {
      config,
      port,
      daemon: new URL(daemon.url).host,
    })

    const forwarded = { 'x-forwarded-for': '203.0.113.1, 198.51.100.7' }
    const demo = { name: 'demo', version: '1.0.0' }
    const put = await publishTo(url, authorization, demo, forwarded)
    assert.equal(put.status, 200)
    assert.deepEqual(Object.keys((await put.json()) as object), ['warnings'])
    const audit = await plimsoll(folder, ['audit', '--action', 'publish', '--dir', dir])
    assert.match(audit.stdout, / 198\.51\.100\.7$/m)
    await until(async () => (await fetch(`${url}/crates/demo/`)).status === 200, 'no page')
    const headersOf = async (path: string) => {
      const answer = await fetch(url + path)
      await answer.arrayBuffer()
      return [answer.status, answer.headers.get('cache-control'), answer.headers.get('server')]
    }
    const forever = 'public, max-age=31536000, immutable'
    assert.deepEqual(await headersOf('/index/de/mo/demo'), [200, 'no-cache', 'nginx'])
    assert.deepEqual(await headersOf('/crates/demo/demo-1.0.0.crate'), [200, forever, 'nginx'])
    assert.equal((await headersOf('/index/no/ne/none'))[0], 404)
    assert.equal((await headersOf('/search/?q=demo'))[0], 200)
    assert.equal((await headersOf('/healthz'))[0], 200)
    assert.equal((await headersOf('/upstream/crates-io/index/config.json'))[0], 200)
    assert.equal((await headersOf('/me'))[0], 200)
    assert.equal((await headersOf('/me/password?link=sesame'))[0], 403)
    assert.doesNotMatch(logged(), /sesame/)
    assert.match(logged(), /"GET \/healthz /, 'what is no secret is logged')
    // Answered by nginx itself: the daemon of a private registry would ask for a token.
    assert.deepEqual(await headersOf(healthPath()), [204, null, 'nginx'])

    if (config === 'private.conf') return
    // What the tree lacks is the daemon's answer.
    assert.deepEqual(await headersOf('/index/de/'), [404, 'no-store', 'nginx'])
    // What nginx serves itself, also while the daemon is away.
    await daemon.kill()
    assert.deepEqual(await headersOf('/index/de/mo/demo'), [200, 'no-cache', 'nginx'])
    assert.deepEqual(await headersOf('/search/?q=demo'), [200, 'no-cache', 'nginx'])
    assert.equal((await headersOf('/api/v1/crates'))[0], 502)
  })

for (const config of ['nginx.conf', 'private.conf', 'hosting.md'])
  for (const fallback of ['serve', 'redirect'])
    test(`${config} is the one address for own crates and those of an upstream: ${fallback}`, {
      skip,
    }, async t => {
      const cleanup = new Cleanup(t)
      const folder = scratch(cleanup)
      const dir = join(folder, 'registry')
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      expectCode('init', await plimsoll(folder, ['init', '--dir', dir, '--base-url', url]), 0)
      const made = await MadeUpUpstream.start(cleanup)
      made.publish({ name: 'public-0', deps: { 'public-1': '1' } })
      made.publish({ name: 'public-1', version: '1.0.0+build.1' })
      const daemon = await serve(cleanup, dir, {
        PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
        PLIMSOLL_UPSTREAM_UP_FALLBACK: fallback,
      })
      await startNginx(cleanup, folder, { config, port, daemon: new URL(daemon.url).host })
      const cratesIo = `sparse+${url}/index/`
      const cargo = new Cargo(join(folder, 'home'), { registries: {}, cratesIo })
      const toml = '[dependencies]\npublic-0 = "1"'
      await cargo.ok(writeProject(join(folder, 'app'), { name: 'app', toml }).folder, 'check')
      const status = async (path: string) => (await fetch(url + path)).status
      assert.equal(await status('/upstream/up/index/pu/bl/public-0'), 200)
      assert.equal(await status('/index/no/ne/none'), 404)
      await daemon.kill()
      // 404 would be "there is no such crate", and Cargo would take it for the truth.
      assert.equal(await status('/index/pu/bl/public-0'), 502)
    })

test('nginx takes the configurations of the documents as they are', { skip }, async t => {
  const folder = scratch(new Cleanup(t))
  const { cert, key } = makeCertificate(folder)
  for (const page of ['run/hosting', 'run/daemon', 'run/several-daemons', 'run/upstream']) {
    const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8')
    const blocks = [...text.matchAll(/```nginx\n(.*?)\n```/gs)].map(([, block = '']) => block)
    assert.ok(blocks.length > 0, page)
    const [whole, parts] = [true, false].map(isWhole =>
      blocks.filter(block => /^server \{/m.test(block) === isWhole),
    ) as [string[], string[]]
    // The first part of the page with a server is for that server; others are for some server.
    if (page === 'run/hosting') whole[0] = inServer(whole[0], parts.shift())
    const servers = [...whole, ...parts.map(block => `server {\nlisten 443;\n${block}\n}`)]
    const config = servers
      .join('\n')
      .replaceAll('listen 443', 'listen 127.0.0.1:8095')
      .replace(/ssl_certificate \S+;/g, `ssl_certificate ${cert};`)
      .replace(/ssl_certificate_key \S+;/g, `ssl_certificate_key ${key};`)
    const file = join(folder, 'pasted.conf')
    writeFileSync(file, `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${config}\n}\n`)
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', file, '-e', 'stderr'], {
      env: { PATH },
      encoding: 'utf8',
    })
    assert.equal(status, 0, `${page}: ${stderr}`)
  }
})

test('the load balancer of the documents has readers served while daemons answer others with 503, and one stands still', {
  skip,
}, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  let isStill = false
  const answer: RequestListener = ({ url }, response) =>
    response.writeHead(url?.startsWith('/api/') ? 503 : 200).end()
  const one = await serveWeb(t, (request, response) => {
    if (!isStill) answer(request, response)
  })
  const two = await serveWeb(t, answer)
  const page = readFileSync(join(root, 'docs', 'run', 'several-daemons.md'), 'utf8')
  const config = (/```nginx\n(.*?)\n```/s.exec(page)?.[1] ?? '')
    .replaceAll('10.0.0.11:8080', new URL(one).host)
    .replaceAll('10.0.0.12:8080', new URL(two).host)
    .replace('listen 443 ssl http2', 'listen 127.0.0.1:8094')
    .replace(/ssl_certificate.*;/g, '')
    .replace(/proxy_read_timeout 2\ds;/, 'proxy_read_timeout 1s;')
  assert.match(config, /proxy_read_timeout 1s;/, 'Cargo waits 30 seconds')
  const text = `daemon off;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\n${config}\n}\n`
  await runNginx(cleanup, folder, text, 8094)
  const status = async (path: string) => (await fetch(`http://127.0.0.1:8094${path}`)).status
  for (let at = 0; at < 6; at++) {
    assert.equal(await status('/api/v1/crates'), 503)
    assert.equal(await status('/index/de/mo/demo'), 200)
  }
  isStill = true
  for (let at = 0; at < 6; at++) assert.equal(await status('/index/de/mo/demo'), 200)
})

/** The path that compose.yaml asks nginx for. */
function healthPath(): string {
  const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true })
  return new URL(services.nginx.healthcheck.test.at(-1)).pathname
}

/** Puts locations before the others of a server, as the documents say. */
function inServer(server = '', locations = ''): string {
  assert.match(server, /^ {2}location/m)
  return server.replace(/^ {2}location/m, first => `${locations}\n${first}`)
}

/** Returns a file of deploy/nginx/, or what the document says, as such a file. */
function readConfig(config: string): string {
  if (config !== 'hosting.md') return readFileSync(join(root, 'deploy', 'nginx', config), 'utf8')
  const text = readFileSync(join(root, 'docs', 'run', config), 'utf8')
  const [server, locations] = [...text.matchAll(/```nginx\n(.*?)\n```/gs)].map(([, block]) => block)
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kinds.map(kind => `${kind}_temp_path /tmp/${kind};\n`).join('')
  const own = inServer(server, locations)
    .replace('listen 443 ssl http2', 'listen 8080')
    .replace(/ssl_certificate.*;/g, '')
    .replace('/srv/registry/public', '/srv/public')
    .replaceAll('127.0.0.1:8080', 'daemon:8080')
  return `pid /tmp/nginx.pid;\nevents {}\nhttp {\naccess_log /dev/stdout;\n${paths}${own}\n}\n`
}

/** Starts nginx as compose.yaml does, with places and addresses of this test. */
async function startNginx(
  cleanup: Cleanup,
  folder: string,
  { config, port, daemon }: { config: string; port: number; daemon: string },
): Promise<() => string> {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  const log = join(folder, 'access.log')
  const text = readConfig(config)
    .replaceAll('/tmp/', `${temporary}/`)
    .replace('/dev/stdout', log)
    .replace('/srv/public', join(folder, 'registry', 'public'))
    .replaceAll('daemon:8080', daemon)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
  await runNginx(cleanup, folder, `daemon off;\n${text}`, port)
  return () => readFileSync(log, 'utf8')
}

/** Runs nginx with a configuration until the test ends; resolves when it answers at the port. */
async function runNginx(
  cleanup: Cleanup,
  folder: string,
  text: string,
  port: number,
): Promise<void> {
  const file = join(folder, 'nginx.conf')
  // Started as root, it would otherwise change to a user who cannot read the folder.
  writeFileSync(file, `${process.getuid?.() === 0 ? 'user root;\n' : ''}${text}`)
  const args = ['-c', file, '-e', 'stderr']
  const child = spawn('nginx', args, { env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
  const { said, ended } = watch(child)
  cleanup.add(async () => {
    child.kill('SIGQUIT')
    assert.equal(await ended, 0, said())
  })
  const answers = async () => {
    assert.equal(child.exitCode, null, said())
    return (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)) !== null
  }
  await until(answers, said)
}
