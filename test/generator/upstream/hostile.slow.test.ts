// Mirrors generator/upstream/crate-index.ts: upstreams that fail or attack.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { sha256 } from '../../../core/sha256.ts'
import { acceptChange } from '../../../core/upstream/crate.ts'
import { parseVersion } from '../../../core/version.ts'
import { listAlarms } from '../../../generator/upstream/alarms.ts'
import { openUpstreams, type UpstreamLimits } from '../../../generator/upstream/open.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { settle } from '../../support/event-loop.ts'
import { gate } from '../../support/gate.ts'
import { MadeUpUpstream, type UpstreamFault } from '../../support/made-up-upstream.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

const UP = '/upstream/up'
const DEMO = `${UP}/index/de/mo/demo`
const CRATE = '/files/demo/demo-1.0.0.crate'
const CONFIG = '/index/config.json'

/** Opens a registry with the upstream `up`, which has `demo` 1.0.0. */
async function start(t: TestContext, limits: UpstreamLimits = {}) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const registry = await TestRegistry.open(t, {
    env: { PLIMSOLL_UPSTREAM_UP_INDEX: made.index },
    limits: { pause: 1, ...limits },
  })
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await registry.app.request(path, { headers })
    const bytes = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() }
  }
  const later = (seconds = 11) => {
    registry.now = new Date(registry.now.getTime() + seconds * 1000)
  }
  const source = registry.upstreams.byName.get('up')?.source ?? assert.fail()
  const line = made.publish({ name: 'demo' })
  const crate = `${UP}/crates/demo-1.0.0-${JSON.parse(line).cksum}.crate`
  const alarms = async () =>
    (await listAlarms(source.place)).map(({ kind, name, version }) => `${kind} ${name} ${version}`)
  return { made, registry, ask, later, source, line, crate, alarms }
}

/** Answers one path with a fault. */
function at(path: string, fault: UpstreamFault): MadeUpUpstream['fault'] {
  return url => (url === path ? fault : null)
}

type Answer = { readonly status: number; readonly headers: Headers }

/** Asserts that Cargo will try again. */
function assertLater({ status, headers }: Answer, what?: string): void {
  assert.deepEqual([status, headers.has('retry-after')], [503, true], what)
}

/** The longest turn of the event loop meanwhile, in milliseconds of all threads' processor time. */
async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; longest: number }> {
  let before = process.cpuUsage()
  let [longest, isOver] = [0, false]
  const nextTick = () => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    longest = Math.max(longest, (user + system) / 1000)
    if (!isOver) setImmediate(nextTick)
  }
  setImmediate(nextTick)
  const result = await work()
  isOver = true
  return { result, longest }
}

const yanked = (line: string) => line.replace('"yanked":false', '"yanked":true')

/** Returns the names of files that were received and not kept. */
function leftovers(folder: string): string[] {
  return readdirSync(join(folder, 'upstream/up'), { recursive: true, encoding: 'utf8' }).filter(
    path => /^incoming\/./.test(path),
  )
}

test('an endless body is cut off, and nothing of it stays', async t => {
  const { made, ask, later, crate, registry, source } = await start(t, { crateMax: 100_000 })
  for (const [path, body] of [
    [made.pathOf('demo'), '{"name":"demo"}\n'],
    [CONFIG, ' '],
    [CRATE, 'x'],
  ] as const) {
    made.fault = at(path, { body: body.repeat(10_000), isEndless: true })
    assertLater(await ask(path === made.pathOf('demo') ? DEMO : crate), path)
    assert.match(source.counts.failure ?? '', /limit|larger|longer|bigger/)
    made.fault = () => null
    later()
    await ask(DEMO)
  }
  assert.deepEqual(leftovers(registry.dir), [])
  assert.equal((await ask(crate)).status, 200)
})

test('a slow index file is given up; one that is known is answered instead', async t => {
  const { made, ask, later, line } = await start(t, { requestMs: 100 })
  const slow = at(made.pathOf('demo'), { stopsAfter: 20 })
  made.fault = slow
  assertLater(await ask(DEMO))
  made.fault = () => null
  later()
  assert.equal((await ask(DEMO)).text, `${line}\n`)
  made.publish({ name: 'demo', version: '1.0.1' })
  made.fault = slow
  later()
  const stale = await ask(DEMO)
  assert.equal(stale.text, `${line}\n`)
  assert.ok(stale.headers.has('warning'))
})

test('nobody waits for a slow .crate without end, and what is fetched meanwhile is served', async t => {
  const { made, ask, crate, registry } = await start(t, { waitMs: 50 })
  const { opened: resumes, open: resume } = gate()
  made.fault = at(CRATE, { stopsAfter: 20, resumes })
  const upstream = registry.upstreams.byName.get('up') ?? assert.fail()
  // An export has nobody who asks again.
  const exported = upstream.find({
    ...{ name: parseName('demo'), version: parseVersion('1.0.0') },
    cksum: null,
  })
  assertLater(await ask(crate))
  assertLater(await ask(crate))
  resume()
  assert.ok(await exported)
  await until(async () => (await ask(crate)).status === 200, 'it never comes')
  assert.equal(made.requests.to('GET', CRATE).length, 1)
})

test('a server that falls silent amid a .crate is left', async t => {
  const { made, ask, crate, registry, source } = await start(t, { silenceMs: 150 })
  made.fault = at(CRATE, { stopsAfter: 20 })
  assertLater(await ask(crate))
  assert.deepEqual(leftovers(registry.dir), [])
  made.fault = () => null
  assert.equal((await ask(crate)).status, 200)
  assert.equal(source.counts.failure, null)
})

test('a .crate that drips is given up after half an hour, and nothing of it stays', async t => {
  const { made, ask, crate, registry, later, source } = await start(t)
  await ask(DEMO)
  const { opened: resumes, open: drip } = gate()
  // What is larger than 64 KiB is in a file meanwhile.
  made.fault = at(CRATE, { body: Buffer.alloc(200_000), stopsAfter: 100_000, resumes })
  const answer = ask(crate)
  await until(() => leftovers(registry.dir).length === 1, 'nothing is fetched')
  later(1801)
  drip()
  assertLater(await answer)
  assert.match(source.counts.failure ?? '', /it takes too long/)
  assert.deepEqual(leftovers(registry.dir), [])
  assert.equal(made.requests.all.filter(({ url }) => url === CRATE).length, 1)
  made.fault = () => null
  assert.equal((await ask(crate)).status, 200)
})

test('a cut .crate is never kept: with the right length it is fetched again', async t => {
  const { made, ask, crate, registry, line } = await start(t)
  let left = 2
  made.fault = url => (url === CRATE && left-- > 0 ? { stopsAfter: 100, hangsUp: true } : null)
  const answer = await ask(crate)
  assert.deepEqual([answer.status, sha256(answer.bytes)], [200, JSON.parse(line).cksum])
  assert.equal(made.requests.to('GET', CRATE).length, 3)
  made.publish({ name: 'cuts', files: { 'src/lib.rs': '//' } })
  const text = (await ask(`${UP}/index/cu/ts/cuts`)).text
  const address = `${UP}/crates/cuts-1.0.0-${JSON.parse(text).cksum}.crate`
  made.fault = at('/files/cuts/cuts-1.0.0.crate', { body: answer.bytes.subarray(0, 100) })
  assertLater(await ask(address), 'with the length of what is left')
  assert.deepEqual(leftovers(registry.dir), [])
  made.fault = () => null
  assert.equal((await ask(address)).status, 200)
})

test('a login page instead of any file is none', async t => {
  const { made, ask, later, crate } = await start(t)
  const html = { body: '<html>Please log in</html>', headers: { 'content-type': 'text/html' } }
  for (const path of [made.pathOf('demo'), CONFIG, CRATE]) {
    made.fault = at(path, html)
    assertLater(await ask(path === made.pathOf('demo') ? DEMO : crate), path)
    made.fault = () => null
    later()
    await ask(DEMO)
  }
  assert.equal((await ask(crate)).status, 200)
})

test('no redirect leads to a private address, nor does `dl`', async t => {
  const { made, ask, later, crate, source } = await start(t)
  const secret = await MadeUpUpstream.start(new Cleanup(t))
  const inside = `${secret}`.replace('127.0.0.1', 'localhost')
  for (const path of [made.pathOf('demo'), CONFIG, CRATE]) {
    made.fault = at(path, { status: 302, headers: { location: inside + path } })
    assertLater(await ask(path === made.pathOf('demo') ? DEMO : crate), path)
    made.fault = () => null
    later()
    await ask(DEMO)
  }
  made.dl = `${inside}/{crate}-{version}`
  later(601)
  assertLater(await ask(crate))
  assert.match(source.counts.failure ?? '', /private/)
  assert.deepEqual(secret.requests.lines, [])
  made.dl = `${made}/files/{crate}/{crate}-{version}.crate`
  assert.equal((await ask(crate)).status, 200)
})

test('new ETags on the same bytes change nothing that clients see', async t => {
  const { made, ask, later, alarms } = await start(t)
  const before = await ask(DEMO)
  for (const tag of ['a', 'b']) {
    made.fault = at(made.pathOf('demo'), {
      status: 200,
      headers: { etag: `"${tag}"` },
      body: before.text,
    })
    later()
    const etag = before.headers.get('etag') ?? ''
    assert.equal((await ask(DEMO, { 'if-none-match': etag })).status, 304)
  }
  assert.deepEqual(await alarms(), [])
})

test('an older file never follows a newer one, also after 404 and a date of the future', async t => {
  const { made, ask, later, line, alarms } = await start(t)
  const path = made.pathOf('demo')
  const time = (day: number) => ({
    'last-modified': new Date(Date.UTC(2026, 5, day)).toUTCString(),
  })
  const newer = yanked(line)
  const older = { body: `${line}\n`, headers: { etag: '"old"', ...time(1) } }
  made.fault = at(path, { body: `${newer}\n`, headers: time(2) })
  assert.equal((await ask(DEMO)).text, `${newer}\n`)
  made.fault = at(path, { status: 404, headers: { 'last-modified': '' } })
  later()
  await ask(DEMO)
  assert.deepEqual(await alarms(), ['gone demo 1.0.0'])
  made.fault = at(path, older)
  later()
  const stale = await ask(DEMO)
  assert.deepEqual([stale.text, stale.headers.has('warning')], [`${newer}\n`, true])
  made.fault = at(path, {
    body: `${newer}\n`,
    headers: { 'last-modified': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  })
  later()
  await ask(DEMO)
  made.fault = at(path, older)
  later()
  assert.equal((await ask(DEMO)).text, `${newer}\n`)
  made.fault = at(path, { body: `${line}\n`, headers: { etag: '"new"', ...time(3) } })
  later()
  const fresh = await ask(DEMO)
  assert.deepEqual([fresh.text, fresh.headers.has('warning')], [`${line}\n`, false])
})

test('a `dl` that has moved is found at once', async t => {
  const { made, ask, crate, line } = await start(t)
  made.publish({ name: 'demo', version: '1.0.1' })
  assert.equal((await ask(crate)).status, 200)
  const { cksum } = JSON.parse((await ask(DEMO)).text.split('\n')[1] ?? '')
  made.remove('/files/demo/demo-1.0.1.crate')
  made.dl = `${made}/moved/{sha256-checksum}`
  const bytes = buildCrate({
    name: 'demo',
    version: '1.0.1',
    manifest: '[dependencies]',
    files: { 'src/lib.rs': '' },
  })
  made.write(`/moved/${cksum}`, Buffer.from(bytes))
  const answer = await ask(`${UP}/crates/demo-1.0.1-${cksum}.crate`)
  assert.deepEqual([answer.status, sha256(answer.bytes)], [200, cksum], line)
})

test('a version that is published anew: the first bytes stay, the new ones wait for consent', async t => {
  const { made, ask, later, line, crate, source, alarms } = await start(t)
  assert.equal((await ask(crate)).status, 200)
  made.edit('demo', () => [])
  const anew = made.publish({ name: 'demo', files: { 'src/lib.rs': '// bad' } })
  const { cksum } = JSON.parse(anew)
  later()
  assert.equal((await ask(DEMO)).text, `${line}\n`)
  assert.deepEqual(await alarms(), ['checksum demo 1.0.0'])
  assert.equal(sha256((await ask(crate)).bytes), JSON.parse(line).cksum)
  assert.equal(
    sha256((await ask(`${UP}/crates/demo/1.0.0/download`)).bytes),
    JSON.parse(line).cksum,
  )
  await source.index.change(parseName('demo'), crate => acceptChange(crate, parseVersion('1.0.0')))
  assert.equal((await ask(DEMO)).text, `${anew}\n`)
  assert.equal(sha256((await ask(`${UP}/crates/demo-1.0.0-${cksum}.crate`)).bytes), cksum)
  assert.equal(sha256((await ask(`${UP}/crates/demo/1.0.0/download`)).bytes), cksum)
  // Whoever has locked the first bytes still gets them.
  assert.equal(sha256((await ask(crate)).bytes), JSON.parse(line).cksum)
})

test('a crate that vanishes as a whole is shown as yanked, and its bytes still come', async t => {
  const { made, ask, later, line, crate, alarms } = await start(t)
  assert.equal((await ask(crate)).status, 200)
  made.remove(made.pathOf('demo'))
  made.remove(CRATE)
  later()
  assert.equal((await ask(DEMO)).text, `${yanked(line)}\n`)
  assert.equal((await ask(crate)).status, 200)
  assert.deepEqual(await alarms(), ['gone demo 1.0.0'])
  made.edit('demo', () => [line])
  later()
  assert.equal((await ask(DEMO)).text, `${line}\n`)
})

test('floods of lines are refused, or read without holding others up', async t => {
  const { made, ask, later, line, source } = await start(t)
  const lineOf = (version: string, more = '') =>
    line.replace('"1.0.0"', `"${version}"`).replace('{}', `{${more}}`)
  const many = Array.from({ length: 30_000 }, (_, number) => lineOf(`1.0.${number}`))
  const long = lineOf('2.0.0', Array.from({ length: 90_000 }, (_, f) => `"f${f}":[]`).join())
  const rows: [what: string, body: string, lines: number][] = [
    ['empty lines', '\n'.repeat(7_000_000), 0],
    ['lines of nothing', 'x\n'.repeat(120_000), 0],
    ['deep lines', `${`${'['.repeat(400_000)}\n`.repeat(10)}${line}\n`, 1],
    ['a line that is too long', `${line}\n${long}\n`, 1],
    ['versions', `${many.join('\n')}\n`, many.length],
    ['the same, all yanked', `${many.map(yanked).join('\n')}\n`, many.length],
  ]
  for (const [what, body, lines] of rows) {
    made.fault = at(made.pathOf('demo'), { body, headers: { etag: `"${what}"` } })
    later()
    const { result, longest } = await longestTurn(() => ask(DEMO))
    if (lines === 0) assertLater(result, what)
    else assert.equal(result.text.split('\n').length - 1, lines, what)
    t.diagnostic(`${what}: ${longest.toFixed(0)} ms`)
    assert.ok(longest < 400, `${what}: a turn of the event loop took ${longest} ms`)
    if (lines < 2) await source.place.remove('lines')
  }
})

test('other versions with each file do not add up without end', async t => {
  const { made, ask, later, line, source } = await start(t)
  const long = line.replace('{}', `{"${'x'.repeat(1_000_000)}":[]}`)
  for (const major of [1, 2, 3]) {
    const lines = Array.from({ length: 8 }, (_, n) => long.replace('"1.0.0"', `"${major}.0.${n}"`))
    made.fault = at(made.pathOf('demo'), {
      body: `${lines.join('\n')}\n`,
      headers: { etag: `"${major}"` },
    })
    later()
    const { text, headers } = await ask(DEMO)
    assert.equal(text.split('\n').length - 1, major === 1 ? 8 : 16)
    assert.equal(headers.has('warning'), major === 3)
  }
  assert.match(source.counts.failure ?? '', /too much, with what it has sent before/)
})

test('a crate of many versions that vanishes raises no flood of alarms', async t => {
  const { made, ask, later, line, alarms } = await start(t)
  const versions = Array.from({ length: 300 }, (_, at) => line.replace('1.0.0', `1.0.${at}`))
  made.edit('demo', () => versions)
  await ask(DEMO)
  made.remove(made.pathOf('demo'))
  later()
  assert.equal((await ask(DEMO)).text, versions.map(each => `${yanked(each)}\n`).join(''))
  assert.equal((await alarms()).length, 100)
})

test('an endless graph of dependencies is not followed without end', async t => {
  const { made, ask } = await start(t)
  let next = 0
  made.fault = url => {
    const name = /\/(node-\d+|demo)$/.exec(url)?.[1]
    if (name === undefined) return null
    const deps = Array.from({ length: 50 }, () => ({
      ...{ name: `node-${next++}`, req: '*', features: [], optional: false },
      ...{ default_features: true, target: null, kind: 'normal' },
    }))
    const entry = { name, vers: '1.0.0', deps, cksum: '0'.repeat(64), features: {}, yanked: false }
    return { status: 200, body: `${JSON.stringify(entry)}\n` }
  }
  await ask(DEMO)
  await until(
    () => made.requests.all.length === 1001,
    () => `${made.requests.all.length} requests`,
  )
  await settle()
  assert.equal(made.requests.all.length, 1001)
})

test('what is fetched ahead for one index file has a budget of bytes', async t => {
  const { made, ask, source } = await start(t)
  const deps = (from: number) =>
    Array.from({ length: 100 }, (_, at) => ({
      ...{ name: `node-${from + at}`, req: '*', features: [], optional: false },
      ...{ default_features: true, target: null, kind: 'normal' },
    }))
  const entry = { vers: '1.0.0', deps: [], cksum: '0'.repeat(64), features: {}, yanked: false }
  const padding = 'x'.repeat(1_000_000)
  made.fault = url => {
    const name = /\/(node-\d+|demo)$/.exec(url)?.[1]
    if (name === undefined) return null
    const [lines, more] = name === 'demo' ? [1, { deps: deps(0) }] : [8, { padding }]
    const texts = Array.from({ length: lines }, (_, minor) =>
      JSON.stringify({ ...entry, vers: `1.${minor}.0`, name, ...more }),
    )
    return { status: 200, body: `${texts.join('\n')}\n` }
  }
  await ask(DEMO)
  const kept = async () => {
    let bytes = 0
    for await (const { size } of source.place.list('lines/')) bytes += size
    return bytes
  }
  await until(
    async () => (await kept()) > 60e6,
    () => `${made.requests.all.length} requests`,
  )
  await settle()
  // Not more, although none had been read when the first ones began.
  assert.equal(made.requests.all.length, 1 + 8)
})

test('a version twice, lines of others and lines that are not UTF-8 are left out, and told once', async t => {
  const { made, ask, later, line, source, alarms } = await start(t)
  const other = (vers: string) => line.replace('1.0.0', vers)
  const foreign = line.replace('"demo"', '"evil"')
  const invalid = Buffer.from(other('1.1.0').replace('{}', '{"\u00e9":[]}'), 'latin1')
  const lines = [
    other('1.0.0+x'),
    foreign,
    invalid,
    line,
    other('2.0.0+é'.replace('é', 'e')),
    other('2.0.0'),
  ]
  const send = (...sent: (string | Buffer)[]) => {
    const body = Buffer.concat(sent.flatMap(each => [Buffer.from(each), Buffer.from('\n')]))
    made.fault = at(made.pathOf('demo'), { body, headers: { etag: `"${sent.length}"` } })
    later()
    return ask(DEMO)
  }
  const valid = other('1.2.0').replace('{}', '{"\u00e9":[]}')
  // Before anything is known, the first line of a version counts; from then on the one that is kept.
  assert.equal((await send(line, valid)).text, `${line}\n${valid}\n`)
  const shown = (await send(...lines, valid)).text
  assert.equal(shown, `${line}\n${other('2.0.0+e')}\n${valid}\n`)
  const told = ['duplicate demo *', 'encoding demo *', 'foreign demo *']
  assert.deepEqual((await alarms()).sort(), told)
  await send(...lines, valid, valid)
  const kinds = ['duplicate', 'foreign', 'encoding']
  assert.deepEqual(source.counts.alarms, new Map(kinds.map(kind => [kind, 1])))
})

test('clients are told what the upstream answered; only silence is no answer', async t => {
  const { made, ask, later, line, crate } = await start(t)
  const rows: [fault: UpstreamFault, index: RegExp, file: RegExp][] = [
    [{ status: 403 }, /with the status 403/, /with the status 403/],
    [{ status: 500 }, /with the status 500/, /with the status 500/],
    [{ body: 'x'.repeat(900) }, /cannot be used/, /sends other bytes for `demo` 1\.0\.0/],
    [
      { stopsAfter: 1, hangsUp: true },
      /does not answer for `demo`/,
      /not answer for `demo 1\.0\.0`/,
    ],
  ]
  for (const [fault, index] of rows) {
    made.fault = at(made.pathOf('demo'), fault)
    later()
    const answer = await ask(DEMO)
    assertLater(answer)
    assert.match(answer.text, index)
    assert.ok(!answer.text.includes(String(made)), answer.text)
  }
  made.fault = () => null
  later()
  assert.equal((await ask(DEMO)).text, `${line}\n`)
  for (const [fault, , file] of rows) {
    made.fault = at(CRATE, fault)
    later()
    const answer = await ask(crate)
    assert.equal(answer.status, 503)
    assert.match(answer.text, file)
  }
  assert.equal((await ask(crate)).headers.has('retry-after'), true)
})

test('403 for an unknown name is no such crate once the upstream has answered others', async t => {
  const { made, ask, later, source, registry } = await start(t)
  made.fault = url => (url === made.pathOf('demo') ? null : { status: 403 })
  const ours = `${UP}/index/ou/rs/ours`
  const first = await ask(ours)
  assert.deepEqual([first.status, /with the status 403/.test(first.text)], [503, true])
  assert.equal((await ask(DEMO)).status, 200)
  for (const name of ['ours', 'mine'])
    assert.equal((await ask(`${UP}${made.pathOf(name)}`)).status, 404)
  assert.deepEqual([source.counts.errors, source.counts.failure], [2, null])
  // After a start, what is kept tells that it has.
  const again = await openUpstreams(registry.registry, { env: {} })
  t.after(() => again.close())
  assert.equal((await again.byName.get('up')?.crate(parseName('later')))?.crate, null)
  // What is kept stays.
  made.fault = () => ({ status: 403 })
  later()
  const kept = await ask(DEMO)
  assert.deepEqual([kept.status, kept.headers.has('warning')], [200, true])
})

test('names of JavaScript are names like others', async t => {
  const { made, ask, later } = await start(t)
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    const line = made
      .publish({ name })
      .replace('"features":{}', '"features":{"__proto__":[],"constructor":["__proto__"]}')
    made.edit(name, () => [line])
    const path = `${UP}${made.pathOf(name)}`
    assert.equal((await ask(path)).text, `${line}\n`)
    made.yank(name, '1.0.0')
    later()
    assert.equal((await ask(path)).text, `${yanked(line)}\n`)
    const { cksum } = JSON.parse(line)
    const crate = await ask(`${UP}/crates/${name}-1.0.0-${cksum}.crate`)
    assert.deepEqual([crate.status, sha256(crate.bytes)], [200, cksum])
  }
  assert.equal((await ask(`${UP}/index/__/pr/__proto__`)).status, 404)
  assert.ok(made.requests.all.every(({ url }) => !url.includes('__')))
})

test('a version whose .crate would have too long a name is left out', async t => {
  const { made, ask } = await start(t)
  const name = 'n'.repeat(64)
  const versionOf = (length: number) => `1.0.0+${'b'.repeat(length - 6)}`
  const longest = made.publish({ name, version: versionOf(255 - 64 - 64 - 8) })
  made.publish({ name, version: versionOf(255 - 64 - 64 - 7) })
  assert.equal((await ask(`${UP}${made.pathOf(name)}`)).text, `${longest}\n`)
  const { vers, cksum } = JSON.parse(longest)
  const crate = await ask(`${UP}/crates/${name}-${vers}-${cksum}.crate`)
  assert.deepEqual([crate.status, sha256(crate.bytes)], [200, cksum])
})

test('of several processes that write one crate, the one with the older file asks again', async t => {
  const { made, ask, later, registry, line, alarms } = await start(t)
  await ask(DEMO)
  const other = await openUpstreams(registry.registry, { env: {} })
  t.after(() => other.close())
  const { opened: resumes, open: resume } = gate()
  const third = made.publish({ name: 'demo', version: '1.1.0' })
  const validators = { etag: '"old"', 'last-modified': '' }
  let asked = 0
  const old = { body: `${yanked(line)}\n`, headers: validators, stopsAfter: 9, resumes }
  made.fault = url => (url === made.pathOf('demo') && asked++ === 0 ? old : null)
  later()
  const slow = ask(DEMO)
  await until(() => asked === 1, 'nobody asks')
  await other.byName.get('up')?.indexFile(parseName('demo'))
  resume()
  assert.equal((await slow).text, `${line}\n${third}\n`)
  assert.deepEqual(await alarms(), [])
  const versions = ['1.2.0', '1.3.0', '1.4.0']
  for (const version of versions) {
    made.publish({ name: 'demo', version })
    later()
    const file = other.byName.get('up')?.indexFile(parseName('demo'))
    const [here, there] = await Promise.all([ask(DEMO), file])
    assert.equal(here.text, there?.file.bytes.toString())
    assert.ok(here.text.includes(`"${version}"`))
  }
  assert.deepEqual(await alarms(), [])
})
