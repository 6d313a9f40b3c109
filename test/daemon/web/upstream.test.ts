import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { ANY_VERSION } from '../../../core/upstream/crate.ts'
import { sentenceOf } from '../../../core/upstream/explain.ts'
import { parseVersion } from '../../../core/version.ts'
import { listEvents } from '../../../generator/accounts/audit.ts'
import { keepAlarm, listAlarms } from '../../../generator/upstream/alarms.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { loggedIn, Visitor } from '../../support/visitor.ts'

const PAGE = '/upstream/up/'
const FEED = '/upstream/up/feed.xml'
const ADMIN = '/me/admin/upstream/up'

/** A registry with an upstream that holds `demo` 1.1.0, and what opens pages as a reader. */
async function start(t: TestContext, env = {}) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const registry = await TestRegistry.open(t, {
    env: {
      PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
      PLIMSOLL_UPSTREAM_UP_HOLD: '7d',
      PLIMSOLL_UPSTREAM_UP_DENY: 'bad*',
      PLIMSOLL_POLICY_RESERVED_PREFIXES: 'team-',
      ...env,
    },
  })
  made.publish({ name: 'demo', pubtime: '2026-01-01T00:00:00Z' })
  made.publish({ name: 'demo', version: '1.1.0', pubtime: '2026-11-19T00:00:00Z' })
  await registry.user('root', {}, true)
  await registry.user('alice')
  const reader = new Visitor(registry)
  const read = async (path: string, by = reader) => {
    const answer = await by.get(path)
    return { status: answer.status, text: plain(await answer.text()) }
  }
  return { made, registry, reader, read, root: await loggedIn(registry, 'root') }
}

/** The text of a page, without what marks it up. */
function plain(page: string): string {
  const main = page.slice(page.indexOf('<main'), page.indexOf('</main>'))
  return main
    .replace(/<[^>]+>/g, '')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ')
}

test('a page says what the upstream is and how fresh, and an away one is told about', async t => {
  const { made, registry, read } = await start(t)
  const before = await read(PAGE)
  assert.equal(before.status, 200)
  assert.ok(before.text.includes(`The crates of ${made.index}, served here`), before.text)
  assert.match(before.text, /Held ?versions younger than 7d/)
  assert.match(before.text, /Denied ?bad\*/)
  assert.match(before.text, /Last answer ?none since the start/)
  assert.match(before.text, /Alarms ?None\./)
  assert.deepEqual(made.requests.lines, [])
  assert.equal((await read(`${PAGE}?crate=demo`)).status, 200)
  assert.match((await read(PAGE)).text, /Last answer ?2026-11-20 12:00:00 UTC/)
  registry.now = new Date('2026-11-20T12:01:00Z')
  made.isAway = true
  const away = await read(`${PAGE}?crate=other`)
  assert.deepEqual([away.status, /does not answer for other/.test(away.text)], [503, true])
  const after = await read(PAGE)
  assert.match(after.text, /Last answer ?2026-11-20 12:00:00 UTC ?Last request ?failed S/)
})

test('a crate is shown in the words of the command, for one request, and nothing else is asked', async t => {
  const { made, registry, read } = await start(t)
  const { text } = await read(`${PAGE}?crate=Demo`)
  const upstream = registry.upstreams.byName.get('up') ?? assert.fail()
  const states = (await upstream.explain(parseName('demo'))) ?? []
  const sentences = states.map(sentenceOf)
  assert.match(sentences[1] ?? '', /\(upstream\.up\.hold: 7d\) until 2026-11-26; .*allow/)
  const [first = '', second = ''] = sentences.map(sentence => sentence.replaceAll('`', ''))
  assert.ok(text.includes(`${second} ${first}`), text)
  assert.deepEqual(made.requests.lines, ['GET /index/de/mo/demo 200'])
  made.requests.clear()
  const token = await registry.user('bob')
  await registry.publish(token, { name: 'ours', version: '1.0.0' })
  made.requests.clear()
  const rows: [crate: string, status: number, says: RegExp][] = [
    ['OURS', 404, /the name OURS is for crates of this registry/i],
    ['team_new', 404, /is for crates of this registry/],
    ['a b', 400, /a b/],
    [`<script>alert("x")</script>`, 400, /&lt;script&gt;/],
    ['../../config', 400, /config/],
  ]
  for (const [crate, status, says] of rows) {
    const answer = await read(`${PAGE}?crate=${encodeURIComponent(crate)}`)
    assert.equal(answer.status, status, crate)
    assert.match(answer.text, says)
  }
  assert.deepEqual(made.requests.lines, [])
  assert.equal((await read(`${PAGE}?crate=none`)).status, 404)
})

test('names of a page reach it as text only', async t => {
  const { reader } = await start(t)
  const hostile = '"><img src=x onerror=alert(1)>'
  const text = await (await reader.get(`${PAGE}?crate=${encodeURIComponent(hostile)}`)).text()
  assert.doesNotMatch(text, /<img src=x/)
  assert.match(text, /value="&quot;&gt;&lt;img/)
})

test('no more than the newest hundred versions are shown', async t => {
  const { made, read } = await start(t)
  for (let at = 0; at < 120; at++) made.publish({ name: 'many', version: `0.1.${at}` })
  const { text } = await read(`${PAGE}?crate=many`)
  assert.equal(text.match(/many@0\.1\.\d+ is/g)?.length, 100)
  assert.match(text, /many@0\.1\.119 is/)
  assert.doesNotMatch(text, /many@0\.1\.19 is/)
  assert.match(text, /newest 100 of 120 versions/)
})

test('alarms say what has happened, since when, and what to do', async t => {
  const { made, registry, read } = await start(t)
  await read(`${PAGE}?crate=demo`)
  made.edit('demo', lines => lines.slice(1))
  registry.now = new Date('2026-11-20T12:01:00Z')
  const { text } = await read(`${PAGE}?crate=demo`)
  const sentence = /demo@1\.0\.0 is shown as yanked: the upstream does not have it any more/
  assert.match(text, sentence)
  assert.match(
    (await read(PAGE)).text,
    /demo@1\.0\.0 is not there any more; it is shown as yanked *since 2026-11-20 12:01:00 UTC · plimsoll upstream accept demo@1\.0\.0 --upstream up or an administrator's page/,
  )
})

test('the page links to a feed of the alarms, newest first, which a private registry shows to readers', async t => {
  const { registry } = await start(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const { place } = registry.upstreams.byName.get('up')?.source ?? assert.fail()
  const alarm = { name: parseName('demo'), version: parseVersion('1.0.0+a') }
  await keepAlarm(place, { ...alarm, kind: 'checksum', at: '2026-11-20T10:00:00Z' })
  const whole = { name: parseName('ours'), version: ANY_VERSION } as const
  await keepAlarm(place, { ...whole, kind: 'name', at: '2026-11-20T11:00:00Z' })
  assert.equal((await registry.request('GET', FEED)).status, 401)
  const alice = await loggedIn(registry, 'alice')
  assert.match(await (await alice.get(PAGE)).text(), /<a href="\/upstream\/up\/feed\.xml">/)
  const answer = await alice.get(FEED)
  assert.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  const text = await answer.text()
  const entries = [...text.matchAll(/<entry>\n<id>(.*)<\/id>\n<title>(.*)<\/title>/g)]
  assert.deepEqual(
    entries.map(([, id, title]) => [id, title]),
    [
      [
        'http://crates.test/upstream/up/feed.xml#ours/2026-11-20T11:00:00Z',
        'ours is a crate of this registry, and now there, too: find out whose',
      ],
      [
        'http://crates.test/upstream/up/feed.xml#demo@1.0.0+a/2026-11-20T10:00:00Z',
        'demo@1.0.0+a has other bytes there now; the first ones stay here',
      ],
    ],
  )
  assert.match(text, /<updated>2026-11-20T11:00:00Z<\/updated>/)
  assert.match(text, /href="http:\/\/crates\.test\/upstream\/up\/\?crate=ours"/)
})

test('only administrators see buttons; what they allow is shown at once, and undone', async t => {
  const { made, registry, reader, read, root } = await start(t)
  const yanked = async () => {
    const answer = await registry.request('GET', '/upstream/up/index/de/mo/demo')
    return (await answer.text()).match(/"yanked":true/g)?.length ?? 0
  }
  assert.equal(await yanked(), 1)
  const open = await (await reader.get(`${PAGE}?crate=demo`)).text()
  assert.doesNotMatch(open, /<form[^>]*method="post"/)
  const alice = await loggedIn(registry, 'alice')
  const fields = { crate: 'demo', version: '1.1.0' }
  assert.equal((await alice.post(`${ADMIN}/allow`, fields)).status, 403)
  assert.equal((await reader.post(`${ADMIN}/allow`, fields)).status, 403)
  const forged = await root.send(`${ADMIN}/allow`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  })
  assert.equal(forged.status, 403)
  assert.equal(await yanked(), 1)
  const done = await root.post(`${ADMIN}/allow`, fields, { from: `${ADMIN}?crate=demo` })
  const location = done.headers.get('location') ?? ''
  assert.equal(location, `${ADMIN}?crate=demo&done=upstream-allow`)
  const shown = await read(location, root)
  assert.match(shown.text, /demo@1\.1\.0 is shown although it is held/)
  assert.match(shown.text, /demo@1\.1\.0 is shown \(allowed by an administrator\) Hold again/)
  assert.equal(await yanked(), 0)
  await root.post(`${ADMIN}/hold`, fields)
  assert.equal(await yanked(), 1)
  assert.match((await read(`${ADMIN}?crate=demo`, root)).text, /page shows it at once Allow/)
  made.edit('demo', lines => lines.slice(0, 1))
  registry.now = new Date('2026-11-20T12:01:00Z')
  assert.match((await read(`${ADMIN}?crate=demo`, root)).text, /any more .*Accept/)
  await root.post(`${ADMIN}/accept`, fields)
  const { place } = registry.upstreams.byName.get('up')?.source ?? assert.fail()
  assert.deepEqual(await listAlarms(place), [])
  assert.doesNotMatch((await read(`${ADMIN}?crate=demo`, root)).text, /demo@1\.1\.0/)
  const events = await listEvents(registry.registry.database, { crate: 'demo', limit: 9 })
  assert.deepEqual(
    events.map(({ actor, action }) => `${actor} ${action}`),
    ['root upstream-allow', 'root upstream-hold', 'root upstream-accept'],
  )
})

test('an alarm about a name is cleared, and hostile forms change nothing', async t => {
  const { registry, root, read } = await start(t)
  const { place } = registry.upstreams.byName.get('up')?.source ?? assert.fail()
  const at = '2026-11-20T11:00:00Z'
  await keepAlarm(place, { kind: 'name', name: parseName('ours'), version: ANY_VERSION, at })
  assert.match(
    (await read(ADMIN, root)).text,
    /ours is a crate of this registry, and now there, too/,
  )
  const rows: [action: string, crate: string, version: string, status: number][] = [
    ['allow', '<b>', '1.0.0', 400],
    ['allow', 'demo', '../1', 400],
    ['allow', 'demo', ANY_VERSION, 404],
    ['accept', 'demo', '9.9.9', 404],
    ['accept', '../../x', ANY_VERSION, 400],
    ['remove', 'demo', '1.0.0', 404],
  ]
  for (const [action, crate, version, status] of rows) {
    const answer = await root.post(`${ADMIN}/${action}`, { crate, version })
    assert.equal(answer.status, status, `${action} ${crate} ${version}`)
    assert.doesNotMatch(await answer.text(), /<b>|<main[\s\S]*<\/b>/)
  }
  const sql = { limit: 9, crate: undefined }
  const actions = (await listEvents(registry.registry.database, sql)).map(({ action }) => action)
  assert.ok(!actions.some(action => action.startsWith('upstream-')), actions.join())
  assert.equal((await root.post(`${ADMIN}/accept`, { crate: 'ours', version: '*' })).status, 303)
  assert.deepEqual(await listAlarms(place), [])
})

test('several upstreams are listed, other names are nothing, and readers of a private registry log in', async t => {
  const two = { PLIMSOLL_UPSTREAM_DOWN_INDEX: NO_UPSTREAM.PLIMSOLL_UPSTREAM_UP_INDEX }
  const { registry, reader, read } = await start(t, { ...two, PLIMSOLL_AUTH_REQUIRED: 'true' })
  assert.equal((await reader.get(PAGE)).headers.get('location'), '/me?next=%2Fupstream%2Fup%2F')
  const alice = await loggedIn(registry, 'alice')
  const list = await (await alice.get('/upstream/')).text()
  assert.match(list, /href="\/upstream\/down\/">down<[\s\S]*href="\/upstream\/up\/">up</)
  assert.equal((await read(`${PAGE}?crate=demo`, alice)).status, 200)
  for (const path of ['/upstream/none/', '/upstream/up/none', '/me/admin/upstream/constructor'])
    assert.equal((await loggedIn(registry, 'root').then(root => root.get(path))).status, 404, path)
})
