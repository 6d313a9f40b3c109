import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseRequirement } from '../../../core/requirement.ts'
import { fetchAhead } from '../../../generator/upstream/fetch.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { settle } from '../../support/event-loop.ts'
import { gate } from '../../support/gate.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

/** Opens a registry with its own crate `ours` and an upstream for all other names. */
async function start(t: TestContext, fallback: 'redirect' | 'serve', env = {}) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const registry = await TestRegistry.open(t, {
    env: {
      PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
      PLIMSOLL_UPSTREAM_UP_FALLBACK: fallback,
      PLIMSOLL_POLICY_RESERVED_PREFIXES: 'team-',
      ...env,
    },
  })
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'ours', version: '1.0.0' })
  const ask = async (path: string, init: RequestInit = {}, env = {}) => {
    const answer = await registry.app.request(path, init, env)
    // An answer that nobody reads would keep its place.
    const bytes = await answer.arrayBuffer()
    const { status, headers } = answer
    return new Response(status === 304 ? null : bytes, { status, headers })
  }
  const askFrom = (remoteAddress: string, path: string) =>
    ask(path, {}, { incoming: { socket: { remoteAddress } } })
  const statusFrom = async (...asked: Parameters<typeof askFrom>) =>
    (await askFrom(...asked)).status
  return { made, registry, token, ask, askFrom, statusFrom }
}

test('names that are not here are redirected to the upstream, and own ones never', async t => {
  const { made, ask } = await start(t, 'redirect')
  const rows: [path: string, status: number, location: string | null][] = [
    ['/index/de/mo/demo', 307, `${made}/index/de/mo/demo`],
    ['/index/1/a', 307, `${made}/index/1/a`],
    ['/crates/demo/demo-1.0.0+x.crate', 307, `${made}/files/demo/demo-1.0.0+x.crate`],
    ['/crates/demo/1.0.0/download', 307, `${made}/files/demo/demo-1.0.0.crate`],
    ['/index/ou/rs/ours', 200, null],
    ['/crates/ours/ours-1.0.0.crate', 200, null],
    ['/crates/ours/ours-2.0.0.crate', 404, null],
    ['/crates/OURS/OURS-1.0.0.crate', 404, null],
    ['/index/te/am/team_new', 404, null],
    ['/crates/team-new/team-new-1.0.0.crate', 404, null],
    ['/index/de/mo/DEMO', 404, null],
    ['/index/de/demo', 404, null],
    ['/crates/demo/', 404, null],
    ['/crates/demo/other-1.0.0.crate', 404, null],
    ['/index/', 404, null],
    ['/index/config.json', 200, null],
  ]
  for (const [path, status, location] of rows) {
    const answer = await ask(path)
    assert.deepEqual(
      [path, answer.status, answer.headers.get('location')],
      [path, status, location],
    )
  }
  // Only the place of the .crate files was asked for.
  assert.deepEqual(made.requests.lines, ['GET /index/config.json 200'])
})

test('while nobody knows where the .crate files are, a download may be tried again', async t => {
  const { made, ask } = await start(t, 'redirect')
  made.isAway = true
  const answer = await ask('/crates/demo/demo-1.0.0.crate')
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'])
})

test('downloads that wait for the place of the .crate files ask for it a few at a time', async t => {
  const { made, ask } = await start(t, 'redirect')
  const { opened: resumes, open: resume } = gate()
  made.fault = () => ({ body: JSON.stringify({ dl: `${made}/files` }), stopsAfter: 0, resumes })
  const all = Array.from({ length: 50 }, (_, at) => ask(`/crates/demo/demo-1.0.${at}.crate`))
  await until(() => made.requests.all.length >= 16, 'nothing is asked for')
  await settle()
  assert.equal(made.requests.all.length, 16)
  resume()
  for (const { status } of await Promise.all(all)) assert.equal(status, 307)
})

test('a redirect to an address with a checksum looks the version up', async t => {
  const { made, ask } = await start(t, 'redirect')
  made.dl = `${made}/by/{sha256-checksum}`
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  const answer = await ask('/crates/demo/demo-1.0.0.crate')
  assert.equal(answer.headers.get('location'), `${made}/by/${cksum}`)
  assert.equal((await ask('/crates/demo/demo-1.0.1.crate')).status, 404)
})

test('an address that no header can carry as it is becomes one, and what is none stays here', async t => {
  const { made, ask, registry } = await start(t, 'redirect')
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  const rows: [dl: string, status: number, location: string | null][] = [
    [`${made}/\u2192/\n{crate}?\0x`, 307, `${made}/%E2%86%92/demo?%00x`],
    [`${made}/a b/{sha256-checksum}`, 307, `${made}/a%20b/${cksum}`],
    ['http://[/{crate}', 404, null],
  ]
  for (const [dl, status, location] of rows) {
    made.dl = dl
    registry.now = new Date(registry.now.getTime() + 601_000)
    const answer = await ask('/crates/demo/demo-1.0.0.crate')
    assert.deepEqual([answer.status, answer.headers.get('location')], [status, location])
  }
})

test('names that are not here are served from here, by the rules of the upstream', async t => {
  const { made, ask } = await start(t, 'serve', { PLIMSOLL_UPSTREAM_UP_DENY: 'demo@2' })
  const lines = ['1.0.0', '2.0.0'].map(version => made.publish({ name: 'demo', version }))
  const text = await (await ask('/index/de/mo/demo')).text()
  assert.equal(text, `${lines[0]}\n${lines[1]?.replace('"yanked":false', '"yanked":true')}\n`)
  for (const file of ['demo-1.0.0.crate', '1.0.0/download']) {
    const { status, headers } = await ask(`/crates/demo/${file}`)
    // Without its hash in the address, it may be published anew, or here.
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-cache'])
  }
  assert.equal((await ask('/crates/demo/demo-2.0.0.crate')).status, 403)
  assert.equal((await ask('/index/ot/he/other')).status, 404)
  made.requests.clear()
  assert.equal((await ask('/index/te/am/team-new')).status, 404)
  assert.equal((await ask('/index/ou/rs/ours')).status, 200)
  assert.deepEqual(made.requests.lines, [])
})

test('slow downloads of .crate files hold up no index file', async t => {
  const { made, statusFrom } = await start(t, 'serve')
  made.publish({ name: 'demo' })
  const versions = Array.from({ length: 40 }, (_, at) => `1.0.${at}`)
  for (const version of versions) made.publish({ name: 'slow', version })
  const { opened: resumes, open: resume } = gate()
  made.fault = url => (url.endsWith('.crate') ? { stopsAfter: 20, resumes } : null)
  const all = versions.map((version, at) =>
    statusFrom(`192.0.2.${at % 2}`, `/crates/slow/slow-${version}.crate`),
  )
  const began = () => made.requests.all.filter(({ url }) => url.endsWith('.crate')).length
  await until(() => began() >= 32, 'not enough downloads')
  for (const address of ['192.0.2.0', '192.0.2.9'])
    assert.equal(await statusFrom(address, '/index/de/mo/demo'), 200)
  resume()
  assert.deepEqual(new Set(await Promise.all(all)), new Set([200]))
})

test('made-up names of one client hold up no others, and nothing that is here', async t => {
  const { made, registry, statusFrom } = await start(t, 'serve')
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  const [index, file] = ['/index/de/mo/demo', '/crates/demo/demo-1.0.0.crate']
  const kept = [file, `/upstream/up/crates/demo-1.0.0-${cksum}.crate`]
  for (const path of [index, ...kept]) assert.equal(await statusFrom('192.0.2.1', path), 200)
  // Its index file is to be confirmed again.
  registry.now = new Date(registry.now.getTime() + 60_000)
  made.requests.clear()
  const { opened: resumes, open: resume } = gate()
  made.fault = url =>
    url.includes('/flood') ? { status: 200, body: 'x', stopsAfter: 0, resumes } : null
  const flood = Array.from({ length: 100 }, (_, at) =>
    statusFrom('192.0.2.1', `/index/fl/oo/flood-${at}`),
  )
  await until(() => made.requests.all.length >= 16, 'nothing is asked for')
  for (const path of kept) assert.equal(await statusFrom('192.0.2.1', path), 200)
  assert.equal(await statusFrom('192.0.2.2', index), 200)
  assert.equal(made.requests.all.length, 17)
  resume()
  assert.ok((await Promise.all(flood)).every(status => status === 404 || status === 503))
})

test('invented names of one client end soon, by every road; what is kept and others go on', async t => {
  const env = { PLIMSOLL_LIMITS_UPSTREAM_PER_MINUTE: '200' }
  const { made, registry, askFrom, statusFrom } = await start(t, 'serve', env)
  const { cksum } = JSON.parse(made.publish({ name: 'demo' }))
  made.publish({ name: 'other' })
  const [index, file] = ['/index/de/mo/demo', `/upstream/up/crates/demo-1.0.0-${cksum}.crate`]
  for (const path of [index, file]) assert.equal(await statusFrom('192.0.2.1', path), 200)
  const roads: ((name: string) => string)[] = [
    name => `/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
    name => `/upstream/up/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
    name => `/crates/${name}/${name}-1.0.0.crate`,
    name => `/crates/${name}/1.0.0/download`,
    name => `/upstream/up/crates/${name}/1.0.0/download`,
    name => `/upstream/up/crates/${name}-1.0.0-${cksum}.crate`,
    name => `/upstream/up/?crate=${name}`,
  ]
  for (const [at, road] of roads.entries()) {
    const client = `198.51.100.${at}`
    made.requests.clear()
    const statuses = new Map<number, number>()
    for (let n = 0; n < 40; n++) {
      const answer = await askFrom(client, road(`made${at}x${n}`))
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status === 429) assert.match(answer.headers.get('retry-after') ?? '', /^[1-6]$/)
    }
    assert.deepEqual(
      statuses,
      new Map([
        [404, 10],
        [429, 30],
      ]),
      road('name'),
    )
    assert.equal(made.requests.all.length, 10)
    // What is kept is answered, and not confirmed; names that are not wait.
    registry.now = new Date(registry.now.getTime() + 11_000 * (at % 2))
    for (const path of [index, file]) assert.equal(await statusFrom(client, path), 200)
    assert.equal(await statusFrom('192.0.2.1', index), 200)
  }
  // In all, ten times as many.
  let requests = 0
  registry.now = new Date(registry.now.getTime() + 600_000)
  for (let n = 0; n < 250; n++) {
    made.requests.clear()
    await statusFrom(`203.0.113.${n}`, `/index/al/l/al-l${n}`)
    await statusFrom(`203.0.113.${n}`, `/index/al/l-/al-l${n}`)
    await statusFrom(`203.0.113.${n}`, `/index/al/l-/all-${n}`)
    await statusFrom(`203.0.113.${n}`, `/index/al/l-/all-${n}`)
    requests += made.requests.all.length
  }
  assert.equal(requests, 100)
  assert.equal(await statusFrom('192.0.2.2', '/index/ot/he/other'), 429)
  assert.equal(await statusFrom('192.0.2.2', file), 200)
  registry.now = new Date(registry.now.getTime() + 60_000)
  assert.equal(await statusFrom('192.0.2.2', '/index/ot/he/other'), 200)
})

test('downloads that always fail, and a place of .crate files that is not there, count as well', async t => {
  const limit = { PLIMSOLL_LIMITS_UPSTREAM_PER_MINUTE: '200' }
  const { made, ask } = await start(t, 'serve', limit)
  made.publish({ name: 'demo' })
  made.remove('/files/demo/demo-1.0.0.crate')
  const asked = async (path: string) => {
    made.requests.clear()
    for (let n = 0; n < 40; n++) await ask(path)
    assert.equal((await ask(path)).status, 429)
    return made.requests.all.length
  }
  // Each of ten attempts reads `config.json` again, and asks twice.
  assert.ok((await asked('/crates/demo/demo-1.0.0.crate')) <= 41)
  const other = await start(t, 'redirect', limit)
  other.made.fault = () => ({ status: 500 })
  for (let n = 0; n < 40; n++) await other.ask('/crates/demo/demo-1.0.0.crate')
  assert.equal(other.made.requests.all.length, 10)
})

test('names of crates here arrive at no address of an upstream, unless its crate is here already', async t => {
  const { made, ask, registry } = await start(t, 'serve')
  made.publish({ name: 'ours', version: '9.0.0' })
  made.publish({ name: 'demo', deps: { ours: '9' } })
  const raw = '/upstream/up/index/ou/rs/ours'
  for (const path of [
    raw,
    '/upstream/up/index/te/am/team_new',
    '/upstream/up/crates/ours/9.0.0/download',
    `/upstream/up/crates/Ours-9.0.0-${'0'.repeat(64)}.crate`,
    '/upstream/up/index/de/mo/demo',
  ])
    assert.equal((await ask(path)).status, path.endsWith('demo') ? 200 : 404, path)
  await settle()
  assert.deepEqual(made.requests.lines, [`GET ${made.pathOf('demo')} 200`])
  const upstream = registry.upstreams.byName.get('up') ?? assert.fail()
  const wanted = [{ name: parseName('ours'), requirement: parseRequirement('9') }]
  assert.equal((await fetchAhead(upstream, [], wanted, () => {})).fetched, 1)
  assert.match(await (await ask(raw)).text(), /"vers":"9.0.0"/)
  assert.match(await (await ask('/index/ou/rs/ours')).text(), /"vers":"1.0.0"/)
})

test('a private registry asks for a token before it asks the upstream', async t => {
  const { made, ask, token } = await start(t, 'serve', { PLIMSOLL_AUTH_REQUIRED: 'true' })
  made.publish({ name: 'demo' })
  for (const path of ['/index/de/mo/demo', '/upstream/up/index/de/mo/demo'])
    assert.equal((await ask(path)).status, 401)
  assert.deepEqual(made.requests.lines, [])
  const headers = { authorization: token }
  for (const path of ['/index/de/mo/demo', '/upstream/up/index/de/mo/demo'])
    assert.equal((await ask(path, { headers })).status, 200)
  const config = await ask('/upstream/up/index/config.json', { headers })
  assert.match(await config.text(), /"auth-required":true/)
})
