import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { acceptVersion, listAlarms } from '../../../generator/upstream/alarms.ts'
import { checkNames } from '../../../generator/upstream/names.ts'
import { openUpstreams } from '../../../generator/upstream/open.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { plimsollHere } from '../../support/program.ts'
import { TestRegistry } from '../../support/registry.ts'
import { addCrate, folderOf, OPERATOR } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const item = (name: string) => `<item><title>New crate created: ${name}</title>
  <link>https://crates.example/crates/${name}</link></item>`

test('an own name among the new crates of an upstream raises an alarm, once', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const token = join(folderOf(t), 'token')
  writeFileSync(token, 'secret')
  const env = {
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    // Another host that the operator has named: of any address, and not for the token.
    PLIMSOLL_UPSTREAM_UP_FEED: `${made}/feed.xml`.replace('127.0.0.1', 'localhost'),
    PLIMSOLL_UPSTREAM_UP_TOKEN_FILE: token,
  }
  const registry = await TestRegistry.open(t, { env })
  await registry.publish(await registry.user('alice'), { name: 'our-crate', version: '1.0.0' })
  const names = ['other', 'our_crate', '../../etc', '__proto__', `x${'y'.repeat(100)}`]
  made.write('/feed.xml', Buffer.from(`<rss>${names.map(item).join('')}</rss>`))
  const upstream = registry.upstreams.byName.get('up') ?? assert.fail()
  await checkNames(registry.registry, upstream)
  await checkNames(registry.registry, upstream)
  const tokens = made.requests.all.map(({ headers }) => headers.authorization)
  assert.deepEqual(tokens, [undefined, undefined])
  assert.deepEqual(await listAlarms(upstream.source.place), [
    { kind: 'name', name: 'our-crate', version: '*', at: '2026-11-20T12:00:00Z' },
  ])
  // Once somebody has cleared it, the same feed is no news, also after a restart.
  const cleared = { name: parseName('our-crate'), version: null }
  await acceptVersion(registry.registry.database, OPERATOR, upstream, cleared)
  const later = await openUpstreams(registry.registry, { env: {} })
  t.after(() => later.close())
  for (const each of [upstream, later.byName.get('up') ?? assert.fail()]) {
    await checkNames(registry.registry, each)
    assert.deepEqual(await listAlarms(each.source.place), [])
  }
  assert.deepEqual(upstream.source.counts.alarms, new Map([['name', 1]]))
  const again = acceptVersion(registry.registry.database, OPERATOR, upstream, cleared)
  await assert.rejects(again, /the upstream `up` has no `our-crate`/)
  made.requests.clear()
  const { source } = upstream
  const settings = { ...upstream.settings, offline: true }
  await checkNames(registry.registry, { source, settings })
  assert.deepEqual(made.requests.lines, [])
})

test('an own crate with the name of one that is kept of an upstream raises an alarm', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  made.publish({ name: 'public' })
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_UPSTREAM_UP_INDEX: made.index } })
  assert.equal((await registry.app.request('/upstream/up/index/pu/bl/public')).status, 200)
  const upstream = registry.upstreams.byName.get('up') ?? assert.fail()
  // Whoever took it was killed before the alarm.
  await addCrate(registry.registry, { name: 'public', version: '9.0.0' })
  assert.deepEqual(await listAlarms(upstream.source.place), [])
  await checkNames(registry.registry, upstream)
  const alarms = await listAlarms(upstream.source.place)
  assert.deepEqual(
    alarms.map(({ kind, name }) => [kind, name]),
    [['name', 'public']],
  )
})

test('who takes a name that is kept of an upstream is told at once, and so is the operator', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  made.publish({ name: 'Some-public' })
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_UPSTREAM_UP_INDEX: made.index } })
  const asked = await registry.request('GET', '/upstream/up/index/so/me/some-public')
  assert.equal(asked.status, 200)
  const { source } = registry.upstreams.byName.get('up') ?? assert.fail()
  const token = await registry.user('mallory')
  const publish = async (name: string, version: string) => {
    const { body } = await registry.publish(token, { name, version })
    return body.warnings?.other
  }
  assert.deepEqual(await publish('another', '1.0.0'), [])
  assert.deepEqual(await publish('some_public', '9.0.0'), [
    'the upstream `up` has a crate `some_public`, too, and versions of it are kept here; from now on all who use this registry for both get yours in its place, and its operator is told',
  ])
  assert.deepEqual(
    (await listAlarms(source.place)).map(({ kind, name }) => [kind, name]),
    [['name', 'some_public']],
  )
  assert.deepEqual(source.counts.alarms, new Map([['name', 1]]))
  assert.deepEqual(await publish('some_public', '9.0.1'), [])
  // A storage that fails is no failure of the publish.
  source.place.head = () => Promise.reject(new Error('no storage'))
  assert.deepEqual(await publish('third', '1.0.0'), [])
  assert.ok(registry.logged.some(line => line.includes('no storage')))
})

test('commands that take a name that is kept of an upstream say so, and the alarm is there', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const kept = ['first-public', 'second-public']
  for (const name of kept) made.publish({ name })
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index }
  const registry = await TestRegistry.open(t, { env })
  for (const name of kept) {
    const asked = await registry.request(
      'GET',
      `/upstream/up/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
    )
    assert.equal(asked.status, 200)
  }
  const folder = folderOf(t)
  for (const version of ['9.0.0', '9.1.0'])
    writeCrate(join(folder, `second-public-${version}.crate`), { name: 'second-public', version })
  const added = writeCrate(join(folderOf(t), 'a.crate'), { name: 'first_public', version: '9.0.0' })
  for (const args of [
    ['add', added],
    ['import', '--as', 'crates', folder],
  ]) {
    const { code, stderr } = await plimsollHere([...args, '--dir', registry.dir], env)
    assert.equal(code, 0, stderr)
    assert.equal(stderr.split('versions of it are kept here').length, 2, stderr)
    const again = await plimsollHere([...args, '--dir', registry.dir], env)
    assert.doesNotMatch(again.stderr, /are kept here/)
  }
  const { source } = registry.upstreams.byName.get('up') ?? assert.fail()
  const names = (await listAlarms(source.place)).map(({ name }) => name).sort()
  assert.deepEqual(names, ['first_public', 'second-public'])
})
