import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { createApp } from '../../../daemon/app.ts'
import { DownloadWorker } from '../../../daemon/workers/download-worker.ts'
import { run, value } from '../../../generator/database/statement.ts'
import { buildMarks, pageMarks } from '../../../generator/pages/marked.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { markDueDownloads } from '../../../generator/records/downloads/count.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { TestRegistry, type TestRegistryOptions } from '../../support/registry.ts'
import { BASE } from '../../support/release.ts'

/** The numbers of a version. */
interface Numbers {
  readonly id: number
  readonly num: string
  readonly downloads: number
}

/** A registry with two versions of `demo`, and the worker that writes its downloads. */
async function start(t: TestContext, options: TestRegistryOptions = {}) {
  const registry = await TestRegistry.open(t, options)
  const token = await registry.user('alice')
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(token, { name: 'demo', version })
  await registry.publish(token, { name: 'other', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  const failures: unknown[] = []
  const written: number[] = []
  const worker = new DownloadWorker({
    context: registry.registry,
    counter: registry.downloads,
    onWritten: n => written.push(n),
    onFailure: error => failures.push(error),
    onMarked: () => undefined,
  })
  t.after(() => worker.close())
  const download = async (version: string, times = 1) => {
    for (let n = 0; n < times; n++) {
      const path = `/crates/demo/demo-${version}.crate`
      assert.equal((await registry.request('GET', path)).status, 200)
    }
  }
  const show = async () => {
    await worker.flush()
    await registry.indexWorker.pages.flush()
  }
  const get = async (path: string) => JSON.parse(await (await registry.request('GET', path)).text())
  const json = async () => {
    const text = await registry.shown('crates/demo/downloads.json')
    return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
  }
  return { registry, token, worker, download, show, get, json, failures, written }
}

test('downloads reach the web API, the files of the crate, its page and the summary', async t => {
  const { registry, download, show, get, json, failures, written } = await start(t)
  const page = () => registry.shown('crates/demo/index.html')
  assert.doesNotMatch((await page()) ?? '', /downloads\.svg/)
  await download('1.0.0', 3)
  await download('1.1.0')
  await show()
  assert.deepEqual([failures, written], [[], [4]])
  assert.match((await page()) ?? '', /<img src="downloads\.svg" width="300" height="196" alt="/)
  assert.match((await registry.shown('crates/demo/downloads.svg')) ?? '', />4<\/tspan> in total/)
  const { days, ...numbers } = (await json()) ?? {}
  assert.deepEqual(numbers, {
    name: 'demo',
    total: 4,
    recent: 4,
    from: '2026-08-23',
    to: '2026-11-20',
    versions: { '1.1.0': 1, '1.0.0': 3 },
  })
  assert.deepEqual(days, [...Array(89).fill(0), 4])
  const all = JSON.parse((await registry.shown('downloads.json')) ?? '')
  assert.deepEqual([all.total, all.days.at(-1), all.versions], [4, 4, undefined])
  const { crate, versions } = await get('/api/v1/crates/demo')
  assert.deepEqual([crate.downloads, crate.recent_downloads], [4, 4])
  const totals = versions.map(({ num, downloads }: Numbers) => `${num}: ${downloads}`)
  assert.deepEqual(totals, ['1.1.0: 1', '1.0.0: 3'])
  const search = await get('/api/v1/crates?q=demo')
  assert.equal(search.crates[0].downloads, 4)
  const { num_downloads, most_downloaded, most_recently_downloaded } = await get('/api/v1/summary')
  assert.equal(num_downloads, 4)
  for (const list of [most_downloaded, most_recently_downloaded])
    assert.deepEqual([list.length, list[0].name], [1, 'demo'])
})

test('the first downloads of a crate have its page rendered, further ones only their files', async t => {
  const { registry, download, show } = await start(t)
  const { database } = registry.registry
  const page = () => registry.shown('crates/demo/index.html')
  const marked = () => value(database, "SELECT count(*) FROM marks WHERE kind = 'page'")
  assert.doesNotMatch((await page()) ?? '', /data-numbers/)
  await download('1.0.0')
  await show()
  assert.match((await page()) ?? '', /data-numbers="downloads\.json"/)
  await run(database, "UPDATE crate_downloads SET due_at = '2000-01-01T00:00:00Z'")
  await database.transaction(tx => markDueDownloads(tx, registry.now, 10))
  await buildMarks(registry.registry, await pageMarks(registry.registry, registry.now))
  assert.equal(await marked(), 0)
  await run(database, "UPDATE crate_downloads SET due_at = '2000-01-01T00:00:00Z', shown_at = NULL")
  await database.transaction(tx => markDueDownloads(tx, registry.now, 10))
  // In the transaction that marks the files, so that a kill loses neither.
  assert.equal(await marked(), 1)
})

test('the downloads of the web API are by day and version, in the shape of crates.io', async t => {
  const { registry, download, worker, get } = await start(t)
  await download('1.0.0', 2)
  await worker.flush()
  registry.now = new Date('2026-11-22T12:00:00Z')
  await download('1.0.0')
  await download('1.1.0')
  await worker.flush()
  const { versions } = await get('/api/v1/crates/demo')
  const [new_, old] = versions.map(({ id }: Numbers) => id)
  assert.deepEqual(await get('/api/v1/crates/demo/downloads'), {
    version_downloads: [
      { version: new_, downloads: 1, date: '2026-11-22' },
      { version: old, downloads: 2, date: '2026-11-20' },
      { version: old, downloads: 1, date: '2026-11-22' },
    ],
    meta: { extra_downloads: [] },
  })
  const path = '/api/v1/crates/demo/1.0.0/downloads'
  const first = { version: old, downloads: 2, date: '2026-11-20' }
  assert.deepEqual(await get(`${path}?before_date=2026-11-21`), { version_downloads: [first] })
  for (const query of ['', '?before_date=yesterday', '?before_date=9999-99-99'])
    assert.deepEqual(await get(path + query), {
      version_downloads: [first, { version: old, downloads: 1, date: '2026-11-22' }],
    })
})

test('versions beyond the newest five are summed up', async t => {
  const { registry, token, download, worker, get } = await start(t)
  for (const version of ['1.2.0', '1.3.0', '1.4.0', '1.5.0', '1.6.0'])
    await registry.publish(token, { name: 'demo', version })
  await download('1.0.0', 2)
  await download('1.1.0')
  await download('1.6.0')
  await worker.flush()
  const { version_downloads, meta } = await get('/api/v1/crates/demo/downloads')
  assert.equal(version_downloads.length, 1)
  assert.deepEqual(meta, { extra_downloads: [{ downloads: 3, date: '2026-11-20' }] })
})

test('the files are rendered at most once an hour, and again when old days are over', async t => {
  const { registry, download, show, json } = await start(t)
  const total = async () => (await json())?.total
  await download('1.0.0')
  await show()
  await download('1.0.0')
  await show()
  assert.equal(await total(), 1)
  registry.now = new Date('2026-11-20T12:59:00Z')
  await show()
  assert.equal(await total(), 1)
  registry.now = new Date('2026-11-20T13:00:00Z')
  await show()
  assert.equal(await total(), 2)
  registry.now = new Date('2027-11-20T13:00:00Z')
  await show()
  assert.deepEqual([await total(), (await json())?.recent], [2, 0])
  const { database } = registry.registry
  assert.equal(await value(database, 'SELECT due_at FROM crate_downloads'), null)
})

test('what cannot be written is kept and written later', async t => {
  const { registry, download, worker, get, failures } = await start(t)
  const { database } = registry.registry
  await run(
    database,
    `CREATE TRIGGER broken BEFORE INSERT ON release_downloads
      BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  )
  await download('1.0.0', 2)
  await worker.flush()
  assert.equal(failures.length, 1)
  await run(database, 'DROP TRIGGER broken')
  await download('1.0.0')
  await worker.close()
  const { crate } = await get('/api/v1/crates/demo')
  assert.equal(crate.downloads, 3)
})

test('more files than one transaction takes are all counted', async t => {
  const { registry, worker, written } = await start(t)
  for (let at = 0; at < 1200; at++) registry.downloads.count(`crates/demo/demo-0.0.${at}.crate`)
  registry.downloads.count('crates/demo/demo-1.0.0.crate')
  registry.downloads.count('own.crate')
  await worker.flush()
  const sum = written.reduce((sum, n) => sum + n, 0)
  assert.equal(sum, 1202)
  const { database } = registry.registry
  assert.equal(await value(database, 'SELECT sum(total) FROM release_downloads'), 1)
})

test('with `downloads.count = "off"` the files and the numbers go', async t => {
  const { registry, download, show, json } = await start(t)
  await download('1.0.0')
  await show()
  assert.notEqual(await json(), null)
  const site = { ...registry.registry.site, downloads: false }
  await buildPages({ ...registry.registry, site }, { all: true })
  assert.equal(await json(), null)
  for (const path of ['crates/demo/downloads.svg', 'downloads.json', 'downloads.svg'])
    assert.equal(await registry.shown(path), null)
  assert.doesNotMatch((await registry.shown('crates/demo/index.html')) ?? '', /downloads\.svg/)
  const off = createApp({
    ...registry,
    upstreams: registry.upstreams,
    registry: { ...registry.registry, site },
  })
  for (const path of ['', '/1.0.0', '/versions', '/downloads', '/1.0.0/downloads']) {
    const text = await (await off.request(`${BASE}/api/v1/crates/demo${path}`)).text()
    assert.doesNotMatch(text, /downloads":[1-9]/, path)
  }
  // Counted again, they are as they were.
  await buildPages(registry.registry, { all: true })
  assert.equal((await json())?.total, 1)
})

test('deleted versions take their downloads with them, and verify finds wrong sums', async t => {
  const { registry, download, show, json } = await start(t)
  await download('1.0.0', 2)
  await download('1.1.0')
  await show()
  const change = operatorChange('2026-11-20T13:00:00Z')
  const name = parseName('demo')
  const version = parseVersion('1.0.0')
  await deleteReleases(registry.registry, { name, version, force: true }, change)
  await registry.indexWorker.settle()
  await registry.indexWorker.pages.flush()
  assert.deepEqual((await json())?.versions, { '1.1.0': 1 })
  assert.equal((await json())?.total, 1)
  const { database } = registry.registry
  const faults = async (repair: boolean) => {
    const totals: string[] = []
    for await (const { what, repaired } of verify(registry.registry, { repair, served: false }))
      totals.push(`${repaired ? 'repaired: ' : ''}${what}`)
    return totals
  }
  assert.deepEqual(await faults(false), [])
  await run(database, 'UPDATE crate_downloads SET total = 7')
  const wrong = 'the downloads of crates do not match those of their versions'
  assert.deepEqual(await faults(false), [wrong])
  assert.deepEqual(await faults(true), [`repaired: ${wrong}`])
  await registry.registry.tree.remove('crates/demo/downloads.svg')
  assert.deepEqual(await faults(true), ['repaired: was still to be rendered'])
  assert.deepEqual(await faults(false), [])
  await deleteReleases(registry.registry, { name, version: null, force: true }, change)
  await registry.indexWorker.pages.flush()
  assert.equal(await json(), null)
  for (const table of ['crate_downloads', 'release_downloads'])
    assert.equal(await value(database, `SELECT count(*) FROM ${table}`), 0)
  assert.equal(await value(database, 'SELECT sum(n) FROM registry_downloads'), 3)
})
