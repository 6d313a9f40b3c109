// Mirrors daemon/api/yank.ts
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { all, run } from '../../../generator/database/statement.ts'
import { expectCode } from '../../support/command.ts'
import { plimsollHere } from '../../support/program.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'
import { loggedIn } from '../../support/visitor.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const REASON = 'It deletes <b>files</b> & more'
const HTML = 'It deletes &lt;b&gt;files&lt;/b&gt; &amp; more'
const DEMO = { name: 'demo', version: '1.0.0' }
const JSON_TYPE = { 'content-type': 'application/json' }

interface Patched {
  readonly version: Readonly<Record<string, unknown>>
  readonly errors: readonly { readonly detail: string }[]
}

/** A registry with the crates `demo` and `user`, which are alice's. */
async function opened(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const registry = await TestRegistry.open(t, { env, git: true })
  const token = await registry.user('alice')
  await registry.publish(token, DEMO)
  await registry.publish(token, { ...DEMO, version: '2.0.0' })
  await registry.indexWorker.settle()
  const patch = async (version: object, number = '1.0.0') => {
    const init = { headers: JSON_TYPE, body: JSON.stringify({ version }) }
    const response = await registry.request('PATCH', `/api/v1/crates/demo/${number}`, token, init)
    return { status: response.status, body: (await response.json()) as Patched }
  }
  return { registry, token, patch }
}

/** What the files of a tree say of demo 1.0.0. */
function saidIn(text: (path: string) => string) {
  const record = JSON.parse(text('crates/demo/crate.json'))
  const { yank_message, deprecated, entry } = record.versions.at(-1)
  const page = text('crates/demo/1.0.0/index.html')
  const notices = [...page.matchAll(/<p class="notice bad" role="note">(.*?)<\/p>/gs)]
  const shown = notices.map(([, inner = '']) => inner.replace(/<(?!br)[^>]*>/g, ''))
  const list = text('crates/demo/index.html')
  const hints = [...list.matchAll(/class="badge bad" title="([^"]*)"/g)].map(([, hint]) => hint)
  return { yank_message, deprecated, yanked: entry.yanked, notices: shown, hints: new Set(hints) }
}

const SAID = {
  yank_message: REASON,
  deprecated: { requirement: '<2', reason: REASON, use: 'other' },
  yanked: true,
  notices: [
    `This version is yanked: Cargo uses it only where a Cargo.lock already names it.<br>${HTML}`,
    `Versions &lt;2 are deprecated: ${HTML}<br>Use other instead.`,
  ],
  hints: new Set([HTML, `deprecated: ${HTML} (use other)`]),
}

test('a reason reads the same everywhere, whoever says it: command, page, API, static build', async t => {
  const ways = {
    async api({ registry, token, patch }: Awaited<ReturnType<typeof opened>>) {
      await patch({ yanked: true, yank_message: REASON })
      const body = JSON.stringify({ requirement: '<2', reason: REASON, use: 'other' })
      const init = { headers: JSON_TYPE, body }
      await registry.request('PUT', '/api/v1/crates/demo/deprecation', token, init)
    },
    async command({ registry }: Awaited<ReturnType<typeof opened>>) {
      const said = ['--dir', registry.dir, '--reason', REASON]
      expectCode('yank', await plimsollHere(['yank', 'demo@1.0.0', ...said]), 0)
      const deprecate = ['deprecate', 'demo@<2', '--use', 'other', ...said]
      expectCode('deprecate', await plimsollHere(deprecate), 0)
    },
    async page({ registry }: Awaited<ReturnType<typeof opened>>) {
      const alice = await loggedIn(registry, 'alice')
      await alice.post('/me/crates/demo/yank', { version: '1.0.0', reason: REASON })
      const fields = { requirement: '<2', reason: REASON, use: 'other' }
      await alice.post('/me/crates/demo/deprecate', fields)
    },
  }
  for (const [way, say] of Object.entries(ways)) {
    const test = await opened(t)
    await say(test)
    const { registry } = test
    await registry.indexWorker.settle()
    await registry.indexWorker.pages.flush()
    const text = (path: string) => readFileSync(join(registry.registry.tree.root, path), 'utf8')
    assert.deepEqual(saidIn(text), SAID, way)
    const feed = text('crates/demo/feed.xml')
    assert.match(feed, new RegExp(`yanked: ${HTML}\ndeprecated: ${HTML} \\(use other\\)`), way)
    const answer = await (await registry.request('GET', '/api/v1/crates/demo/1.0.0')).json()
    const { yank_message, deprecated } = (answer as Patched).version
    assert.deepEqual([yank_message, deprecated], [REASON, SAID.deprecated], way)
    assert.equal(text('index/de/mo/demo').includes('deletes'), false)
  }
  const [from, out] = [folderOf(t), join(folderOf(t), 'out')]
  for (const crate of [DEMO, { ...DEMO, version: '2.0.0' }, { name: 'other', version: '1.0.0' }])
    writeCrate(join(from, `${crate.name}-${crate.version}.crate`), crate)
  const settings = `yanked = [{ version = "demo@1.0.0", reason = ${JSON.stringify(REASON)} }]
deprecated = [{ crate = "demo@<2", reason = ${JSON.stringify(REASON)}, use = "other" }]\n`
  writeFileSync(join(from, 'plimsoll.toml'), settings)
  const build = ['build', '--from', from, '--out', out, '--base-url', 'https://crates.example']
  expectCode('build', await plimsollHere(build), 0)
  assert.deepEqual(
    saidIn(path => readFileSync(join(out, path), 'utf8')),
    SAID,
  )
})

test('a reason alone touches neither index nor git, and raises the generation', async t => {
  const { registry, patch } = await opened(t)
  const { database } = registry.registry
  await patch({ yanked: true, yank_message: 'why' })
  await registry.indexWorker.settle()
  await registry.git?.close()
  await run(database, 'DELETE FROM marks')
  const generation = async () =>
    all<{ generation: number }>(database, 'SELECT generation FROM crates')
  const [before] = await generation()
  await patch({ yank_message: 'why not' })
  const kinds = await all<{ kind: string }>(
    database,
    'SELECT DISTINCT kind FROM marks ORDER BY kind',
  )
  assert.deepEqual(
    kinds.map(({ kind }) => kind).filter(kind => /index|git|whole/.test(kind)),
    [],
  )
  assert.ok(kinds.some(({ kind }) => kind === 'page'))
  const [after] = await generation()
  assert.ok((after?.generation ?? 0) > (before?.generation ?? 0))
})

test('PATCH answers as crates.io; Cargo keeps a reason, an unyank removes it', async t => {
  const { registry, token, patch } = await opened(t)
  const refused = {
    status: 400,
    body: { errors: [{ detail: 'Cannot set yank message when unyanking' }] },
  }
  assert.deepEqual(await patch({ yanked: false, yank_message: 'why' }), refused)
  assert.deepEqual(await patch({ yanked: false, yank_message: '' }), refused)
  for (const version of [{ yank_message: 'why' }, { yanked: null, yank_message: '' }]) {
    const [error] = (await patch(version)).body.errors
    assert.equal(error?.detail, 'Cannot update yank message for a version that is not yanked')
  }
  const told = async (version: object) => {
    const { yanked, yank_message } = (await patch(version)).body.version
    return [yanked, yank_message]
  }
  assert.deepEqual(await told({ yanked: true, yank_message: 'one' }), [true, 'one'])
  assert.deepEqual(await told({ yank_message: 'two', yanked: null }), [true, 'two'])
  assert.deepEqual(await told({ yank_message: null, yanked: null }), [true, 'two'])
  await registry.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
  assert.deepEqual(await told({}), [true, 'two'])
  assert.deepEqual(await told({ yanked: true }), [true, null])
  assert.deepEqual(await told({ yank_message: 'three' }), [true, 'three'])
  await registry.request('PUT', '/api/v1/crates/demo/1.0.0/unyank', token)
  assert.deepEqual(await told({}), [false, null])
  for (const reason of [
    '',
    ' ',
    '\u200b',
    '\u3164\u00ad',
    'a\uffff',
    'a\nb',
    'a\u202eb',
    'a\u2028b',
    'x'.repeat(501),
    '🚢'.repeat(501),
  ])
    assert.equal((await patch({ yanked: true, yank_message: reason })).status, 400, reason)
  assert.equal((await patch({ yanked: true, yank_message: '🚢'.repeat(500) })).status, 200)
})

test('who publishes a dependent of yanked or deprecated versions is warned, within bounds', async t => {
  const { registry, token, patch } = await opened(t)
  await patch({ yanked: true, yank_message: 'it leaks' })
  const init = { headers: JSON_TYPE, body: JSON.stringify({ reason: 'too old', use: 'keel' }) }
  await registry.request('PUT', '/api/v1/crates/demo/deprecation', token, init)
  const index = 'registry-index = "sparse+http://crates.test/index/"'
  const needs = (name: string, of: string, version: string) =>
    `[dependencies.${name}]\npackage = "${of}"\nversion = "${version}"\n${index}\n`
  const added = async (name: string, manifest: string) => {
    const file = join(folderOf(t), `${name}-1.0.0.crate`)
    writeCrate(file, { name, version: '1.0.0', manifest })
    const result = await plimsollHere(['add', file, '--dir', registry.dir, '--json'], {
      PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test',
    })
    return JSON.parse(result.stdout)[0].warnings as readonly string[]
  }
  const lines = Array.from({ length: 12 }, (_, at) =>
    needs(`d${at}`, 'demo', `>=1.0.0, <1.${at + 1}`),
  )
  const other = await added('user', lines.join('') + needs('demo', 'demo', '2'))
  const yanked = other.filter(line => line.includes('is yanked: it leaks'))
  const deprecated = other.filter(line => line.includes('`demo` is deprecated: too old; use keel'))
  assert.deepEqual([yanked.length, deprecated.length], [10, 1])
  await added('keel', '[badges.maintenance]\nstatus = "deprecated"\n')
  assert.match((await added('last', needs('keel', 'keel', '1'))).join(), /`keel` is deprecated$/)
})

test('a deprecated crate is marked in lists and searches, comes later, and can be taken back', async t => {
  const { registry, token } = await opened(t)
  await registry.publish(token, { name: 'demo-2', version: '1.0.0' })
  const words = (text: string) =>
    [...text.matchAll(/>(demo[\w-]*)<|(deprecated)</g)].map(([, a, b]) => a ?? b)
  const search = async () => {
    await registry.indexWorker.settle()
    await registry.indexWorker.pages.flush()
    return words(await (await registry.request('GET', '/search/?q=dem')).text())
  }
  assert.deepEqual((await search()).slice(0, 2), ['demo', 'demo-2'])
  const spec = ['deprecate', 'demo', '--dir', registry.dir]
  expectCode('', await plimsollHere([...spec, '--reason', 'old', '--use', 'https://x.example/']), 0)
  assert.deepEqual(await search(), ['demo-2', 'demo', 'deprecated'])
  assert.match(
    await registry.text('crates/demo/index.html'),
    /Use <a href="https:\/\/x\.example\/"/,
  )
  for (const use of ['javascript:alert(1)', '', 'HTTPS://x.example', 'https://good@x.example/']) {
    const refused = await plimsollHere([...spec, '--reason', 'old', '--use', use])
    assert.match(refused.stderr, /cannot be used instead/, use)
  }
  expectCode('', await plimsollHere([...spec, '--undo']), 0)
  assert.deepEqual(await search(), ['demo', 'demo-2'])
})

test('what is said of some versions comes before what is said of all, wherever it is read', async t => {
  const { registry, token } = await opened(t)
  const say = async (requirement: string, reason = requirement) => {
    const init = { headers: JSON_TYPE, body: JSON.stringify({ requirement, reason }) }
    const path = '/api/v1/crates/demo/deprecation'
    return (await registry.request('PUT', path, token, init)).status
  }
  for (const requirement of ['*', '<1.5', '=1.0.0']) assert.equal(await say(requirement), 200)
  await registry.indexWorker.settle()
  await registry.indexWorker.pages.flush()
  const said = JSON.parse(await registry.text('crates/demo/crate.json')).versions as {
    readonly deprecated: { readonly requirement: string }
  }[]
  assert.deepEqual(
    said.map(({ deprecated }) => deprecated.requirement),
    ['*', '=1.0.0'],
  )
  const { manifest, metadata } = ownDependency('demo', { req: '=1.0.0', kind: 'dev' })
  const user = { name: 'user', version: '1.0.0', manifest }
  const { body } = await registry.publish(token, user, { deps: [metadata] })
  assert.match(JSON.stringify(body), /`demo` is deprecated: =1\.0\.0/)
  for (let minor = 0; minor < 47; minor++) assert.equal(await say(`=3.${minor}.0`), 200)
  for (const range of ['=4.0.0', `<4.0.0-${'a'.repeat(200)}`]) assert.equal(await say(range), 400)
  assert.equal(await say('=3.1.0', 'otherwise'), 200)
})
