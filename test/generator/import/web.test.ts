// Mirrors generator/import/source/: over HTTP
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { all, one, type Row } from '../../../generator/database/statement.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { FileServer } from '../../support/file-server.ts'
import { report, takeOver } from '../../support/import.ts'
import { MargoTree } from '../../support/margo.ts'
import { refusedWith } from '../../support/refusal.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf, newRegistry } from '../../support/workplace.ts'

/** A margo tree and a file server over it, with an index URL that is the server's. */
async function site(t: TestContext): Promise<{ old: MargoTree; server: FileServer }> {
  const root = join(folderOf(t), 'old')
  mkdirSync(root, { recursive: true })
  const server = await FileServer.start(new Cleanup(t), root)
  const old = new MargoTree(root, `${server.url}/`)
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) old.add({ name: 'Demo', version })
  old.add({
    name: 'ab',
    version: '0.1.0',
    deps: [{ name: 'Demo', req: '1', registry: old.indexUrl }],
  })
  return { old, server }
}

function names(t: TestContext, ...lines: string[]): string {
  const path = join(folderOf(t), 'names.txt')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.join('\n'))
  return path
}

test('a sparse index gives what the names ask for', async t => {
  const { old } = await site(t)
  const registry = await newRegistry(t)
  const list = names(t, 'Demo', '', '# ours', 'ab # the old one', 'demo', 'none', '../evil', 'ü')
  const { sums, outcomes, source } = await takeOver(registry, old.indexUrl, { names: list })
  assert.deepEqual(sums, { added: 4, present: 0, refused: 3 }, report(outcomes))
  assert.deepEqual(source.ownUrls, [old.indexUrl])
  assert.match(report(outcomes), /none null refused: the source has no crate `none`/)
  assert.match(report(outcomes), /refused: line 7: the crate name `\.\.\/evil` contains/)
  const text = "SELECT line FROM releases WHERE version = '0.1.0'"
  const { line } = await one<Row<'releases'>>(registry.database, text)
  assert.equal(JSON.parse(line).deps[0].registry, null)
})

test('what fails for a while is tried again, and what goes on failing is refused alone', async t => {
  const { old, server } = await site(t)
  const seen = new Map<string, number>()
  const proxy = await serveWeb(t, (request, response) => {
    const url = request.url ?? ''
    const times = (seen.get(url) ?? 0) + 1
    seen.set(url, times)
    if (url.endsWith('1.1.0.crate')) return void response.writeHead(503).end()
    if (times === 1) return void response.writeHead(429, { 'retry-after': '0' }).end()
    if (times === 2) return void response.destroy()
    if (times === 3 && url.endsWith('.crate')) {
      // Cut off in the middle.
      response.writeHead(200, { 'content-length': '100000' })
      return void response.write('x', () => response.destroy())
    }
    void fetch(`${server.url}${url}`).then(async answer => {
      const bytes = Buffer.from(await answer.arrayBuffer())
      const text = url === '/config.json' ? bytes.toString().replaceAll(server.url, proxy) : bytes
      response.writeHead(answer.status).end(text)
    })
  })
  const registry = await newRegistry(t)
  const list = names(t, 'demo', 'ab')
  const { sums, outcomes } = await takeOver(registry, `sparse+${proxy}/`, { names: list })
  assert.deepEqual(sums, { added: 3, present: 0, refused: 1 }, report(outcomes))
  assert.match(report(outcomes), /Demo 1\.1\.0 refused: .*cannot be read: HTTP status 503/)
  const again = await takeOver(registry, old.indexUrl, { names: list })
  assert.deepEqual(again.sums, { added: 1, present: 3, refused: 0 })
})

test('the token goes to the hosts that the operator has named, and nowhere else', async t => {
  const { server } = await site(t)
  const heard: (string | undefined)[] = []
  const elsewhere = await serveWeb(t, (request, response) => {
    heard.push(request.headers.authorization)
    response.writeHead(302, { location: `${server.url}${request.url}` }).end()
  })
  const TOKEN = 'plim_very_secret'
  const index = await serveWeb(t, async (request, response) => {
    if (request.headers.authorization !== TOKEN) return void response.writeHead(401).end()
    if (request.url === '/config.json') {
      const dl = `${elsewhere}/crates/{lowerprefix}/{crate}/{version}.crate`
      return void response.end(JSON.stringify({ dl, 'auth-required': true }))
    }
    response.writeHead(307, { location: `${server.url}${request.url}` }).end()
  })
  const list = names(t, 'demo')
  const registry = await newRegistry(t)
  const denied = takeOver(registry, `sparse+${index}/`, { names: list })
  await assert.rejects(denied, refusedWith('import_http_denied'))
  const named = { names: list, token: TOKEN }
  const { sums, outcomes } = await takeOver(registry, `sparse+${index}/`, named)
  assert.deepEqual(sums, { added: 3, present: 0, refused: 0 }, report(outcomes))
  assert.deepEqual(heard, [undefined, undefined, undefined])
  const crates = `${elsewhere}/crates/{lowerprefix}/{crate}/{version}.crate`
  await takeOver(await newRegistry(t), `sparse+${index}/`, { ...named, crates })
  assert.deepEqual(heard.slice(3), [TOKEN, TOKEN, TOKEN])
  for (const { headers } of server.requests.all) assert.equal(headers.authorization, undefined)
  const audit = await all<Row<'audit'>>(registry.database, 'SELECT * FROM audit')
  assert.doesNotMatch(JSON.stringify([outcomes, audit]), /secret/)
})

test('a dl on a private host that the operator has not named is not followed', async t => {
  const { server } = await site(t)
  const base = server.url.replace('127.0.0.1', 'localhost')
  const crates = `${base}/crates/{lowerprefix}/{crate}/{version}.crate`
  const index = await serveWeb(t, (request, response) => {
    if (request.url === '/config.json') return void response.end(JSON.stringify({ dl: crates }))
    response.writeHead(307, { location: `${server.url}${request.url}` }).end()
  })
  const [registry, list] = [await newRegistry(t), names(t, 'demo')]
  const refused = await takeOver(registry, `sparse+${index}/`, { names: list })
  assert.deepEqual(refused.sums, { added: 0, present: 0, refused: 3 }, report(refused.outcomes))
  assert.match(
    report(refused.outcomes),
    /Demo 1\.0\.0 refused: http:\/\/localhost:\S+\.crate has the private address \S+, and only hosts that the command names may have one; if the \.crate files are there, name their URL with --crates/,
  )
  for (const { url } of server.requests.all) assert.ok(!url.endsWith('.crate'), url)
  const { sums } = await takeOver(registry, `sparse+${index}/`, { names: list, crates })
  assert.deepEqual(sums, { added: 3, present: 0, refused: 0 })
})

const hostile: { what: string; answer: RequestListener; expected: RegExp }[] = [
  {
    what: 'an endless file',
    answer: (_, response) => {
      const piece = Buffer.alloc(1 << 20, 'x')
      const more = (): boolean =>
        response.destroyed || (response.write(piece, () => setImmediate(more)) && false)
      response.writeHead(200)
      more()
    },
    expected: /is larger than the limit of 64 MiB/,
  },
  {
    what: 'one endless line',
    answer: (_, response) => response.end(`{"name":"demo","x":"${'x'.repeat(5 << 20)}"}\n`),
    expected: /line 1 is larger than the limit of 4\.0 MiB/,
  },
  {
    what: 'a page instead of an index',
    answer: (_, response) => response.end('<html>'),
    expected: /not valid JSON/,
  },
]

for (const { what, answer, expected } of hostile) {
  test(`${what} costs its crate only`, async t => {
    const { server } = await site(t)
    const url = await serveWeb(t, (request, response) => {
      if (request.url === '/config.json') {
        return void response.end(
          JSON.stringify({ dl: `${server.url}/crates/{lowerprefix}/{crate}/{version}.crate` }),
        )
      }
      if (!request.url?.includes('ab')) return answer(request, response)
      response.writeHead(308, { location: `${server.url}/2/ab` }).end()
    })
    const wish = { names: names(t, 'demo', 'ab') }
    const { sums, outcomes } = await takeOver(await newRegistry(t), `sparse+${url}/`, wish)
    assert.deepEqual(sums, { added: 1, present: 0, refused: 1 }, report(outcomes))
    assert.match(report(outcomes), expected)
  })
}

test('a dl that is neither on the web nor a file of this machine leads nowhere, and a password in an address is not used', async t => {
  const registry = await newRegistry(t)
  const list = names(t, 'demo')
  for (const dl of [
    'file://elsewhere/etc/{crate}',
    'file:etc/{crate}',
    'file:///etc%2f{crate}',
    'file:///etc/%ff/{crate}',
    'file:///etc/%zz/{crate}',
    'file:///etc/%00/{crate}',
    '/etc',
    '../..',
    'ftp://x/',
    'http:/etc/passwd',
  ]) {
    const url = await serveWeb(t, (_, response) => void response.end(JSON.stringify({ dl })))
    const foreign = takeOver(registry, `sparse+${url}/`, { names: list })
    await assert.rejects(foreign, refusedWith('import_dl_foreign'), dl)
  }
  for (const url of ['http://user:hunter2@127.0.0.1:1/', 'ftp://old.example/'])
    await assert.rejects(takeOver(registry, `sparse+${url}`, { names: list }), error => {
      assert.doesNotMatch(String(error), /hunter2/)
      return refusedWith('import_url_invalid')(error)
    })
})
