import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { refuse } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { sha256 } from '../../../core/sha256.ts'
import { acceptChange } from '../../../core/upstream/crate.ts'
import { parseVersion } from '../../../core/version.ts'
import { beginPause } from '../../../generator/records/pause.ts'
import { listAlarms } from '../../../generator/upstream/alarms.ts'
import { fetchAhead } from '../../../generator/upstream/fetch.ts'
import { openUpstreams } from '../../../generator/upstream/open.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { settle } from '../../support/event-loop.ts'
import { gate } from '../../support/gate.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { TestRegistry, type TestRegistryOptions } from '../../support/registry.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'

const UP = '/upstream/up'

/** Opens a registry with the upstream `up`. */
async function start(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env: Record<string, string> = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index }
  for (const [key, value] of Object.entries(settings))
    env[key.startsWith('PLIMSOLL') ? key : `PLIMSOLL_UPSTREAM_UP_${key.toUpperCase()}`] =
      value === 'INDEX' ? made.index : value
  const registry = await TestRegistry.open(t, { env } satisfies TestRegistryOptions)
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await registry.app.request(path, { headers })
    // An answer that nobody reads would keep its place.
    const bytes = await answer.arrayBuffer()
    const { status, headers: told } = answer
    return new Response(status === 304 ? null : bytes, { status, headers: told })
  }
  const later = (seconds: number) => {
    registry.now = new Date(registry.now.getTime() + seconds * 1000)
  }
  return { made, registry, ask, later, counts: registry.upstreams.byName.get('up')?.source.counts }
}

const indexOf = (name: string) => `${UP}/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`

test('lines are answered byte for byte, compressed, with an ETag of the bytes that are sent', async t => {
  const { made, ask } = await start(t)
  const lines = [made.publish({ name: 'demo' }), made.publish({ name: 'demo', version: '1.1.0' })]
  const answer = await ask(indexOf('demo'))
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), lines.map(line => `${line}\n`).join(''))
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  const etag = answer.headers.get('etag') ?? ''
  assert.equal((await ask(indexOf('demo'), { 'if-none-match': etag })).status, 304)
  const zipped = await ask(indexOf('demo'), { 'accept-encoding': 'gzip' })
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.notEqual(zipped.headers.get('etag'), etag)
  const config = await ask(`${UP}/index/config.json`)
  assert.deepEqual(await config.json(), {
    dl: 'http://crates.test/upstream/up/crates/{crate}-{version}-{sha256-checksum}.crate',
  })
})

test('an index file is asked for again when it is older than `fresh`, once for all who ask', async t => {
  const { made, ask, later } = await start(t, { fresh: '10s' })
  made.publish({ name: 'demo' })
  const path = made.pathOf('demo')
  const all = await Promise.all(Array.from({ length: 64 }, () => ask(indexOf('demo'))))
  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([200]))
  later(10)
  await ask(indexOf('demo'))
  assert.deepEqual(made.requests.lines, [`GET ${path} 200`])
  later(1)
  await ask(indexOf('demo'))
  assert.deepEqual(made.requests.lines, [`GET ${path} 200`, `GET ${path} 304`])
  const line = made.publish({ name: 'demo', version: '2.0.0' })
  later(11)
  assert.ok((await (await ask(indexOf('demo'))).text()).includes(line))
})

test('a name that the upstream does not have is 404, and forgotten within seconds', async t => {
  const { made, ask, later } = await start(t)
  const all = await Promise.all(Array.from({ length: 64 }, () => ask(indexOf('demo'))))
  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([404]))
  assert.equal(made.requests.all.length, 1)
  made.publish({ name: 'demo' })
  assert.equal((await ask(indexOf('demo'))).status, 404)
  later(4)
  assert.equal((await ask(indexOf('demo'))).status, 200)
})

test('an upstream that is away leaves the last good file, and says so; what is unknown is 503', async t => {
  const { made, ask, later, counts } = await start(t)
  made.publish({ name: 'demo' })
  const before = await (await ask(indexOf('demo'))).text()
  made.isAway = true
  later(11)
  const stale = await ask(indexOf('demo'))
  assert.equal(
    stale.headers.get('warning'),
    '110 - "the upstream has not confirmed this since 2026-11-20T12:00:00Z"',
  )
  assert.equal(await stale.text(), before)
  const unknown = await ask(indexOf('other'))
  assert.deepEqual([unknown.status, unknown.headers.get('retry-after')], [503, '10'])
  // The second failure in a row is remembered for all: nobody waits for a third.
  for (const name of ['demo', 'other', 'third']) await ask(indexOf(name))
  assert.equal(made.requests.all.length, 3)
  assert.deepEqual([counts?.stale, counts?.errors], [2, 2])
  made.isAway = false
  later(11)
  assert.equal((await ask(indexOf('demo'))).headers.get('warning'), null)
  assert.equal((await ask(indexOf('other'))).status, 404)
})

test('a request that fails between others that are answered stops none of them', async t => {
  const { made, ask } = await start(t)
  for (const name of ['broken', 'demo', 'other']) made.publish({ name })
  made.fault = url => (url.endsWith('broken') ? { stopsAfter: 20, hangsUp: true } : null)
  assert.equal((await ask(indexOf('demo'))).status, 200)
  assert.equal((await ask(indexOf('broken'))).status, 503)
  assert.equal((await ask(indexOf('other'))).status, 200)
})

test('an upstream that asks for patience twice in a row is left alone', async t => {
  const { made, ask } = await start(t)
  made.fault = url => ({ status: url.endsWith('some') ? 429 : 503 })
  for (const name of ['some', 'more', 'last']) assert.equal((await ask(indexOf(name))).status, 503)
  assert.equal(made.requests.all.length, 2)
})

test('a token that no header can carry stops the start', async t => {
  const { registry } = await start(t)
  const { settings } = registry.registry
  const up = settings.upstream.up ?? assert.fail()
  const file = join(folderOf(t), 'token')
  for (const text of ['', 'two\nlines', 't\u00f6ken']) {
    writeFileSync(file, text)
    const upstream = { up: { ...up, token_file: file } }
    const changed = { ...registry.registry, settings: { ...settings, upstream } }
    await assert.rejects(
      openUpstreams(changed, { env: {} }),
      /one line of ASCII; see `upstream\.up\./,
    )
  }
})

test('a .crate is fetched once, hashed, kept, and served by the address with its checksum', async t => {
  const { made, ask, counts } = await start(t)
  const { cksum } = JSON.parse(made.publish({ name: 'demo', version: '1.0.0-rc.1' }))
  const path = `${UP}/crates/demo-1.0.0-rc.1-${cksum}.crate`
  const all = await Promise.all(Array.from({ length: 16 }, () => ask(path)))
  for (const answer of all) {
    assert.equal(answer.status, 200)
    const bytes = Buffer.from(await answer.arrayBuffer())
    assert.equal(sha256(bytes), cksum)
  }
  assert.equal(made.requests.all.filter(({ url }) => url.endsWith('.crate')).length, 1)
  const head = all[0]?.headers
  assert.equal(head?.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal((await ask(path, { 'if-none-match': head?.get('etag') ?? '' })).status, 304)
  assert.equal((await ask(path, { range: 'bytes=0-9' })).status, 206)
  made.isAway = true
  assert.equal((await ask(path)).status, 200)
  assert.equal((await ask(`${UP}/crates/demo/1.0.0-rc.1/download`)).status, 200)
  assert.equal((await ask(path.replace(cksum, '0'.repeat(64)))).status, 404)
  assert.ok((counts?.bytes ?? 0) > 0)
})

test('what another process has accepted is shown when the file is next asked for', async t => {
  const { made, registry, ask, later } = await start(t)
  const line = made.publish({ name: 'demo' })
  await ask(indexOf('demo'))
  const edited = line.replace('"features":{}', '"features":{"x":[]}')
  made.edit('demo', () => [edited])
  later(11)
  assert.equal(await (await ask(indexOf('demo'))).text(), `${line}\n`)
  const other = await openUpstreams(registry.registry, { env: {} })
  const index = other.byName.get('up')?.source.index
  await index?.change(parseName('demo'), crate => acceptChange(crate, parseVersion('1.0.0')))
  await other.close()
  later(11)
  assert.equal(await (await ask(indexOf('demo'))).text(), `${edited}\n`)
})

test('wrong bytes are neither kept nor served', async t => {
  const { made, ask } = await start(t)
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  made.write('/files/demo/demo-1.0.0.crate', Buffer.from('other bytes'))
  const path = `${UP}/crates/demo-1.0.0-${cksum}.crate`
  const answer = await ask(path)
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), /sends other bytes for `demo` 1\.0\.0 than its index says/)
  assert.equal((await ask(path)).status, 503)
})

test('a .crate that no Cargo can use is neither kept nor served, whatever its checksum', async t => {
  const { made, ask } = await start(t)
  const other = buildCrate({ name: 'other', version: '1.0.0' })
  for (const [at, junk] of [Buffer.alloc(0), Buffer.from('<html>'), other].entries()) {
    const [name, cksum] = [`demo${at}`, sha256(junk)]
    made.publish({ name })
    made.write(`/files/${name}/${name}-1.0.0.crate`, Buffer.from(junk))
    made.edit(name, ([line = '']) => [JSON.stringify({ ...JSON.parse(line), cksum })])
    const answer = await ask(`${UP}/crates/${name}-1.0.0-${cksum}.crate`)
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /\.crate of `demo\d` 1\.0\.0 that no Cargo can use \(/)
  }
})

test('a denied version is yanked, and its download says which rule and whom to ask', async t => {
  const { made, ask } = await start(t, { deny: 'demo@<1.0.1' })
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  assert.match(await (await ask(indexOf('demo'))).text(), /"yanked":true/)
  const answer = await ask(`${UP}/crates/demo-1.0.0-${cksum}.crate`)
  assert.equal(answer.status, 403)
  assert.deepEqual(await answer.json(), {
    errors: [
      {
        detail:
          '`demo` 1.0.0 is denied here by `upstream.up.deny: demo@<1.0.1`; ask the operator of this registry',
      },
    ],
  })
})

test('the files of what a newest version needs are fetched ahead, and theirs', async t => {
  const { made, ask } = await start(t)
  made.publish({ name: 'leaf' })
  made.publish({ name: 'stem', deps: { leaf: '1' } })
  made.publish({ name: 'root', deps: { stem: '1' } })
  await ask(indexOf('root'))
  await until(
    () => made.requests.all.length === 3,
    () => made.requests.lines.join(),
  )
  await ask(indexOf('leaf'))
  assert.equal(made.requests.all.length, 3)
})

test('what is fetched ahead leaves connections to those who ask', async t => {
  const { made, ask } = await start(t)
  const leaves = Array.from({ length: 60 }, (_, at) => `leaf-${at}`)
  for (const name of leaves) made.publish({ name })
  for (const at of [0, 1, 2, 3]) {
    const needed = leaves.slice(15 * at, 15 * at + 15).map(name => [name, '1'])
    made.publish({ name: `root${at}`, deps: Object.fromEntries(needed) })
  }
  const { opened: resumes, open: resume } = gate()
  made.fault = url => (url.includes('leaf') ? { status: 200, stopsAfter: 0, resumes } : null)
  // Of one there are as many at once as may be large.
  for (const [at, requests] of [9, 18, 27, 28].entries()) {
    await ask(indexOf(`root${at}`))
    await until(
      () => made.requests.all.length >= requests,
      () => made.requests.lines.join(),
    )
    await settle()
    assert.equal(made.requests.all.length, requests)
  }
  const answer = ask(indexOf('leaf-59'))
  await until(
    () => made.requests.all.length === 29,
    () => made.requests.lines.join(),
  )
  resume()
  assert.equal((await answer).status, 200)
  await until(
    () => made.requests.all.length === 64,
    () => made.requests.lines.join(),
  )
})

test('what needs one another is fetched ahead once, also if it is never fresh', async t => {
  const { made, ask, later } = await start(t, { fresh: '0s' })
  made.publish({ name: 'stem', deps: { root: '1' } })
  made.publish({ name: 'root', deps: { stem: '1' } })
  // Each request takes a second.
  made.fault = () => {
    later(1)
    return null
  }
  await ask(indexOf('root'))
  await settle()
  assert.deepEqual(made.requests.lines.length, 3)
})

test('changes of the past raise alarms; the first line and its bytes stay', async t => {
  const { made, ask, later, registry, counts } = await start(t)
  const [first, second] = ['1.0.0', '2.0.0'].map(version => made.publish({ name: 'demo', version }))
  await ask(indexOf('demo'))
  made.edit('demo', lines => [lines[0]?.replace('"features":{}', '"features":{"x":[]}') ?? ''])
  later(11)
  const text = await (await ask(indexOf('demo'))).text()
  assert.equal(text, `${first}\n${second?.replace('"yanked":false', '"yanked":true')}\n`)
  assert.deepEqual(
    counts?.alarms,
    new Map([
      ['line', 1],
      ['gone', 1],
    ]),
  )
  const place = registry.upstreams.byName.get('up')?.source.place
  assert.ok(place)
  assert.deepEqual(
    (await listAlarms(place)).map(({ kind, name, version }) => `${kind} ${name} ${version}`).sort(),
    ['gone demo 2.0.0', 'line demo 1.0.0'],
  )
})

test('no bad file replaces a good one: HTML, a cut one, an older one, another crate, lines twice', async t => {
  const { made, ask, later } = await start(t)
  const line = made.publish({ name: 'demo' })
  const path = made.pathOf('demo')
  const old = Buffer.from(`${line}\n`)
  const second = made.publish({ name: 'demo', version: '2.0.0' })
  const good = `${line}\n${second}\n`
  assert.equal(await (await ask(indexOf('demo'))).text(), good)
  const other = line.replace('"demo"', '"dem0"')
  const bodies: [string | Buffer, boolean][] = [
    ['<html>Please log in</html>', true],
    [good.slice(0, -20), true],
    [`${line}\n${second}\n${other}\nnonsense\n${second.replace('2.0.0', '2.0')}\n`, false],
    [`${line}\n${second}\n${second}\n`, false],
  ]
  for (const [body, isStale] of bodies) {
    made.fault = url => (url === path ? { body, headers: { etag: `"${isStale}"` } } : null)
    later(11)
    const answer = await ask(indexOf('demo'))
    assert.equal(await answer.text(), good)
    assert.equal(answer.headers.has('warning'), isStale, String(body))
  }
  made.fault = () => ({ body: old, headers: { 'last-modified': new Date(0).toUTCString() } })
  later(11)
  assert.equal(await (await ask(indexOf('demo'))).text(), good)
})

test('what a name is not, or another host, is never asked for', async t => {
  const { made, ask } = await start(t)
  for (const path of [
    '/index/de/mo/Demo',
    '/index/xx/yy/demo',
    '/index/de/mo/..%2f',
    '/crates/x.crate',
    '/none',
  ])
    assert.equal((await ask(`${UP}${path}`)).status, 404, path)
  // The page about it.
  assert.equal((await ask(`${UP}/`)).status, 200)
  assert.deepEqual(made.requests.lines, [])
})

test('offline, index files are cut to the .crate files that are here', async t => {
  const { made, ask, registry } = await start(t)
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  made.publish({ name: 'demo', version: '1.1.0' })
  await ask(`${UP}/crates/demo-1.0.0-${cksum}.crate`)
  const settings = registry.registry.settings.upstream
  const up = { ...settings.up, offline: true } as NonNullable<typeof settings.up>
  const registryOffline = {
    ...registry.registry,
    settings: { ...registry.registry.settings, upstream: { up } },
  }
  made.requests.clear()
  const upstreams = await openUpstreams(registryOffline, { env: {} })
  const upstream = upstreams.byName.get('up') ?? assert.fail()
  const lacking = { name: parseName('demo'), version: parseVersion('1.1.0'), checksum: null }
  const brought = await fetchAhead(upstream, [{ ...lacking, source: '' }], [], () => {})
  assert.deepEqual(
    [brought.fetched, brought.issues.map(({ code }) => code)],
    [0, ['upstream_lacks']],
  )
  const file = await upstream.indexFile(parseName('demo'))
  assert.match(file?.file.bytes.toString() ?? '', /^\{[^\n]*"vers":"1\.0\.0"[^\n]*\n$/)
  await upstreams.close()
  assert.deepEqual(made.requests.lines, [])
})

test('readers go on while changes are paused, and the metrics tell what has happened', async t => {
  const { made, registry, ask } = await start(t)
  made.publish({ name: 'demo' })
  await beginPause(registry.registry.database, 60)
  assert.equal((await ask(indexOf('demo'))).status, 200)
  await ask(indexOf('demo'))
  const text = await (await registry.metrics.page()).text()
  for (const line of [
    'hits_total{upstream="up"} 1',
    'misses_total{upstream="up"} 1',
    'up{upstream="up"} 1',
    'age{upstream="up"} 0',
    'undated{upstream="up"} 0',
  ])
    assert.ok(text.includes(`plimsoll_upstream_${line}\n`), line)
})

test('upstreams with one index are asked with the token that any of them has', async t => {
  const file = join(folderOf(t), 'token')
  writeFileSync(file, 'sesame\n')
  const { made, ask } = await start(t, {
    PLIMSOLL_UPSTREAM_ZED_INDEX: 'INDEX',
    PLIMSOLL_UPSTREAM_ZED_TOKEN_FILE: file,
  })
  await ask(indexOf('demo'))
  assert.equal(made.requests.all[0]?.headers.authorization, 'sesame')
})

test('a storage has a place of its own', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const registry = await TestRegistry.open(t)
  const { settings } = resolveSettings({
    env: {
      PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
      PLIMSOLL_UPSTREAM_DOWN_INDEX: 'sparse+http://127.0.0.1:1/',
    },
  })
  const { up, down } = settings.upstream
  assert.ok(up && down)
  const open = (ours: string, theirs: string) => {
    const upstream = { up: { ...up, storage: ours }, down: { ...down, storage: theirs } }
    const changed = { ...registry.registry, settings: { ...registry.registry.settings, upstream } }
    return openUpstreams(changed, { env: {} })
  }
  const pairs: [string, string][] = [
    ['crates', ''],
    ['public/x', ''],
    ['.', ''],
    ['a', 'a'],
    ['a', 'a/b'],
  ]
  for (const places of pairs)
    await assert.rejects(open(...places), /choose a place of its own/, places.join())
  await (await open('a', 'ab')).close()
})

test('a disk that is full here is not the fault of the upstream', async t => {
  const { made, registry, ask } = await start(t)
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  await ask(indexOf('demo'))
  const { counts, files } = registry.upstreams.byName.get('up')?.source ?? assert.fail()
  t.mock.method(files.store, 'stage', () => refuse('storage_full', { reason: 'ENOSPC' }))
  const answer = await ask(`${UP}/crates/demo-1.0.0-${cksum}.crate`)
  assert.equal(answer.status, 507)
  assert.match(await answer.text(), /the disk of the registry is full/)
  assert.deepEqual([counts.errors, counts.failure], [0, null])
})

test('a clock that was years ahead leaves nothing held, shown or older for years', async t => {
  const { made, registry, ask } = await start(t, { hold: '3d', lure_guard: 'true' })
  const then = registry.now.getTime()
  const jump = (days: number) => {
    registry.now = new Date(then + days * 86_400_000)
  }
  const state = async () => {
    const text = await (await ask(indexOf('demo'))).text()
    return text
      .split('\n')
      .slice(0, -1)
      .map(line => !JSON.parse(line).yanked)
  }
  made.publish({ name: 'demo', pubtime: '2026-01-01T00:00:00Z' })
  made.publish({ name: 'demo', version: '1.1.0', pubtime: '2026-11-20T11:00:00Z' })
  assert.deepEqual(await state(), [true, false])
  // What is no longer held there is held again.
  jump(7000)
  assert.deepEqual(await state(), [true, true])
  made.publish({ name: 'demo', version: '1.2.0', pubtime: '2026-01-01T00:00:00Z' })
  jump(7001)
  assert.deepEqual(await state(), [true, true, false])
  jump(0.01)
  assert.deepEqual(await state(), [true, false, false])
  jump(3.1)
  assert.deepEqual(await state(), [true, true, true])
  // A file whose date only that clock took for past.
  const path = made.pathOf('demo')
  const late = { 'last-modified': new Date(then + 7000 * 86_400_000).toUTCString() }
  jump(7002)
  made.fault = url => (url === path ? { headers: late } : null)
  await ask(indexOf('demo'))
  jump(4)
  made.fault = () => null
  made.publish({ name: 'demo', version: '1.3.0', pubtime: '2026-01-01T00:00:00Z' })
  assert.equal((await state()).length, 4)
})
