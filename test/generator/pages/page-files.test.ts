// Mirrors generator/pages/: which files a change renders
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { canonicalName, type Name } from '../../../core/name.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { insert, LIST, one, type Row, run } from '../../../generator/database/statement.ts'
import { openRegistry } from '../../../generator/open.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { listOutputs } from '../../../generator/projections/lists/letters.ts'
import { followers } from '../../../generator/projections/projections.ts'
import { tellFollowers } from '../../../generator/records/crate-change.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { listVersions } from '../../../generator/records/releases.ts'
import { buildStatic } from '../../../generator/static/build.ts'
import { relistCrate } from '../../support/filled-records.ts'
import { fileStamps, filesBelow } from '../../support/folder.ts'
import { TestRegistry } from '../../support/registry.ts'
import { insertRows } from '../../support/rows.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

/** Paths below the public tree that differ between two moments. */
function changed(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys({ ...before, ...after })
    .filter(path => before[path] !== after[path])
    .sort()
}

test('a crate has a page, each version two, which know what is in the package', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const files = {
    'src/lib.rs': '// one\nfn a() {}\n',
    'LICENSE-MIT': 'MIT',
    'README.md': '# Hello',
  }
  await registry.publish(token, { name: 'Demo', version: '1.0.0+b.1', files })
  await registry.indexWorker.pages.flush()
  assert.deepEqual(registry.buildFailures, [])
  for (const path of ['', '1.0.0+b.1/']) {
    const page = await registry.text(`crates/Demo/${path}index.html`)
    assert.match(page, /<h1>Demo <span class="version">1\.0\.0\+b\.1<\/span><\/h1>/)
    assert.match(page, /Hello<\/h/)
    assert.match(page, />Source<\/a>/)
    assert.match(page, /<a href="[^"]*src\/#LICENSE-MIT">MIT<\/a>/)
    assert.match(page, /1 line of Rust/)
  }
  assert.deepEqual(filesBelow(join(registry.registry.tree.root, 'crates/Demo')), [
    '1.0.0+b.1/index.html',
    '1.0.0+b.1/src/index.html',
    'Demo-1.0.0+b.1.crate',
    'badge.svg',
    'crate.json',
    'feed.xml',
    'index.html',
    'latest/index.html',
  ])
})

test('a publish renders its own pages and those that it changes, and no other', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  for (const version of ['1.0.0', '1.1.0', '1.3.0'])
    await registry.publish(token, { name: 'demo', version })
  await registry.publish(token, { name: 'other', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  const root = registry.registry.tree.root
  const before = fileStamps(root)
  registry.now = new Date('2026-11-21T00:00:00Z')
  const manifest = '[features]\nnew-one = []\n'
  const features = { 'new-one': [] }
  await registry.publish(token, { name: 'demo', version: '1.2.0', manifest }, { features })
  await registry.indexWorker.pages.flush()
  assert.deepEqual(changed(before, fileStamps(root)), [
    'crates/demo/1.2.0/changes/index.html',
    'crates/demo/1.2.0/index.html',
    'crates/demo/1.2.0/src/index.html',
    'crates/demo/1.3.0/changes/index.html',
    'crates/demo/1.3.0/index.html',
    'crates/demo/compare/index.html',
    'crates/demo/crate.json',
    'crates/demo/demo-1.2.0.crate',
    'crates/demo/feed.xml',
    'crates/demo/index.html',
    'crates/index.html',
    'feeds/updates.xml',
    'index.html',
    'index/de/mo/demo',
    'lists/updated.html',
    'search/crates/0.json',
    'sitemaps/0.xml',
    'statistics/index.html',
    'users/alice/index.html',
  ])
  assert.match(await registry.text('crates/demo/1.3.0/index.html'), /Since version 1\.2\.0/)
  const then = fileStamps(root)
  await registry.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
  await registry.indexWorker.pages.flush()
  assert.deepEqual(changed(then, fileStamps(root)), [
    'crates/demo/1.0.0/index.html',
    'crates/demo/crate.json',
    'crates/demo/feed.xml',
    'crates/demo/index.html',
    'feeds/updates.xml',
    'index/de/mo/demo',
  ])
})

test('a deleted version takes its pages along; the one after it compares itself with another', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(token, { name: 'demo', version })
  const manifest = '[features]\nnew-one = []\n'
  const features = { 'new-one': [] }
  await registry.publish(token, { name: 'demo', version: '1.2.0', manifest }, { features })
  await registry.indexWorker.pages.flush()
  assert.match(await registry.text('crates/demo/1.2.0/index.html'), /Since version 1\.1\.0/)
  await registry.delete('demo', '1.1.0')
  await buildPages(registry.registry)
  assert.match(await registry.text('crates/demo/1.2.0/index.html'), /Since version 1\.0\.0/)
  assert.equal(existsSync(join(registry.registry.tree.root, 'crates/demo/1.1.0')), false)
  const changes = () => registry.shown('crates/demo/1.2.0/changes/index.html')
  assert.notEqual(await changes(), null)
  await registry.delete('demo', '1.0.0')
  await buildPages(registry.registry)
  assert.equal(await changes(), null)
  assert.equal(await registry.shown('crates/demo/compare/index.html'), null)
})

test('whoever may read a crate sees its owners and publishers, unless owners.public is false', async t => {
  for (const PLIMSOLL_AUTH_REQUIRED of ['false', 'true']) {
    const registry = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_REQUIRED } })
    const token = await registry.user('alice')
    await registry.user('bob')
    await registry.publish(token, { name: 'demo', version: '1.0.0' })
    await registry.publish(token, { name: 'demo', version: '1.1.0' })
    const body = JSON.stringify({ users: ['bob'] })
    await registry.request('PUT', '/api/v1/crates/demo/owners', token, { body })
    await registry.indexWorker.pages.flush()
    const FILES = ['index.html', '1.0.0/index.html', 'crate.json', 'feed.xml']
    const [page = '', version = '', json = '', feed = ''] = await Promise.all(
      FILES.map(file => registry.text(`crates/demo/${file}`)),
    )
    assert.match(
      page,
      /<h2>Owners<\/h2><ul class="plain"><li><a href="[^"]*users\/alice\/">alice<\/a><\/li><li><a [^>]*>bob<\/a><\/li>/,
    )
    const link = /<a href="[^"]*search\/\?owner=alice">alice<\/a>/g
    assert.deepEqual([page.match(link)?.length, version.match(link)?.length], [3, 1])
    const { owners, versions } = JSON.parse(json)
    const url = `${registry.registry.urls.base}/users`
    assert.deepEqual(owners, [
      { login: 'alice', name: null, url: `${url}/alice/` },
      { login: 'bob', name: null, url: `${url}/bob/` },
    ])
    assert.equal(versions[0].published_by, 'alice')
    assert.match(feed, /<name>alice<\/name>/)
    const env = { PLIMSOLL_OWNERS_PUBLIC: 'false', PLIMSOLL_AUTH_REQUIRED }
    const other = await openRegistry(registry.dir, { env })
    t.after(() => other.close())
    await buildPages(other)
    for (const file of [...FILES.map(file => `crates/demo/${file}`), 'feeds/updates.xml'])
      assert.doesNotMatch((await registry.shown(file)) ?? '', /alice|bob|Owners|"owners"/, file)
    for (const path of ['demo', 'demo/1.0.0', 'demo/versions']) {
      const ask = async () =>
        (await registry.request('GET', `/api/v1/crates/${path}`, token)).text()
      assert.match(await ask(), /"login":"alice"/)
    }
  }
})

test('with owners.public = false, the API names no publisher', async t => {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_OWNERS_PUBLIC: 'false' } })
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'demo', version: '1.0.0' })
  for (const path of ['demo', 'demo/1.0.0', 'demo/versions']) {
    const answer = await registry.request('GET', `/api/v1/crates/${path}`, token)
    assert.doesNotMatch(await answer.text(), /alice/, path)
  }
})

/** Puts crates that are copies of the only one there is into the records; those of one name share its release's bytes. */
async function multiply(registry: TestRegistry, names: readonly string[]): Promise<void> {
  const { database } = registry.registry
  const crate = await one<Row<'crates'>>(database, 'SELECT * FROM crates ORDER BY id')
  const release = await one<Row<'releases'>>(database, 'SELECT * FROM releases ORDER BY id')
  await database.transaction(async tx => {
    for (const name of names) {
      const { id: _, ...rest } = crate
      const canonical = canonicalName(name as Name)
      const names = { name: name as Name, canonical, skeleton: name }
      const id = await insert(tx, 'crates', { ...rest, ...names })
      const { id: __, ...same } = release
      await insertRows(tx, 'releases', { ...same, crate_id: id })
      await relistCrate(tx, followers, id)
    }
  })
}

test('the list splits where it grows too long and joins again, page by page', async t => {
  const registry = await TestRegistry.open(t)
  const { database, tree } = registry.registry
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'abc', version: '1.0.0' })
  await buildPages(registry.registry)
  const number = (at: number) => String(at).padStart(3, '0')
  await multiply(registry, [
    ...Array.from({ length: 199 }, (_, at) => `abd${number(at)}`),
    ...Array.from({ length: 900 }, (_, at) => `n${number(at)}`),
  ])
  // Only lists are looked at here.
  const others = ['page', 'release', 'search'] as const
  await run(database, `DELETE FROM marks WHERE kind IN ${LIST}`, others)
  await buildPages(registry.registry)
  const pages = async () =>
    (await tree.files('crates'))
      .map(path => path.slice('crates/'.length))
      .filter(path => !path.startsWith('index-n'))
      .sort()
  assert.deepEqual(await pages(), ['index-a.html', 'index.html'])
  await multiply(registry, ['ab', 'zz'])
  await buildPages(registry.registry)
  // All that begins with `a` begins with `ab`.
  const split = ['index-ab.html', 'index-abc.html', 'index-abd.html', 'index-z.html', 'index.html']
  assert.deepEqual(await pages(), split)
  const counted = (text: string | null) =>
    [...(text ?? '').matchAll(/index-\w+\.html">(\w+) <span class="quiet">(\d+)</g)].map(
      match => `${match[1]} ${match[2]}`,
    )
  assert.deepEqual(counted(await registry.shown('crates/index.html')), ['ab 201', 'n 900', 'z 1'])
  assert.deepEqual(counted(await registry.shown('crates/index-ab.html')), ['abc 1', 'abd 199'])
  assert.match(await registry.text('crates/index-ab.html'), /<strong>ab<\/strong>/)
  // One more changes the pages it is on, and no other.
  const before = fileStamps(join(tree.root, 'crates'))
  await multiply(registry, ['abcd'])
  await buildPages(registry.registry)
  const after = changed(before, fileStamps(join(tree.root, 'crates')))
  const overviews = after.filter(path => path.startsWith('index'))
  assert.deepEqual(overviews, ['index-ab.html', 'index-abc.html', 'index.html'])
  // Rendered at once, they are the same.
  const wanted = new Map<string, string>()
  for await (const { path, bytes } of listOutputs(registry.registry))
    wanted.set(path, bytes.toString())
  const names = (await tree.files('crates')).filter(path => path !== 'crates/index.html')
  assert.deepEqual(names.sort(), [...wanted.keys()].sort())
  for (const [path, text] of wanted) assert.equal(await registry.shown(path), text, path)
  // And back.
  await database.transaction(async tx => {
    for (const name of ['zz', 'ab', 'abcd']) {
      const crate = (await findCrate(tx, name as Name)) ?? assert.fail(name)
      const removed = await listVersions(tx, crate.id)
      const by = { actor: 'test', at: crate.createdAt }
      await tellFollowers(tx, followers, { crate, removed, by, generation: 1000 })
    }
  })
  await buildPages(registry.registry)
  assert.deepEqual(await pages(), ['index-a.html', 'index.html'])
})

test('the files of a small static tree, without times', async t => {
  const folder = folderOf(t)
  const [from, out] = [join(folder, 'from'), join(folder, 'out')]
  for (const version of ['0.1.0', '0.2.0'])
    writeCrate(join(from, `${version}.crate`), { name: 'demo', version })
  const text =
    'yanked = ["demo@0.1.0"]\n[registry]\nbase_url = "https://crates.example"\napi = "none"\n'
  const { settings } = resolveSettings({ file: { name: 'plimsoll.toml', text } })
  await buildStatic({
    followers,
    from,
    out,
    settings,
    urls: registryUrls(settings.registry, ''),
    cache: null,
  })
  const crate = JSON.parse(readFileSync(join(out, 'crates/demo/crate.json'), 'utf8'))
  const [newest, oldest] = crate.versions
  assert.deepEqual(
    [crate.newest_version, crate.created_at, crate.updated_at],
    ['0.2.0', null, null],
  )
  assert.deepEqual([newest.published_at, newest.published_by], [null, null])
  assert.equal(oldest.entry.yanked, true)
  assert.deepEqual(
    filesBelow(out).filter(path => !/^(assets|\.push)\//.test(path)),
    [
      '.nojekyll',
      '404.html',
      'api/index.html',
      'categories/index.html',
      'crates/demo/0.1.0/index.html',
      'crates/demo/0.1.0/src/index.html',
      'crates/demo/0.2.0/changes/index.html',
      'crates/demo/0.2.0/index.html',
      'crates/demo/0.2.0/src/index.html',
      'crates/demo/badge.svg',
      'crates/demo/compare/index.html',
      'crates/demo/crate.json',
      'crates/demo/demo-0.1.0.crate',
      'crates/demo/demo-0.2.0.crate',
      'crates/demo/index.html',
      'crates/demo/latest/index.html',
      'crates/index.html',
      'favicon.ico',
      'index.html',
      'index/config.json',
      'index/de/mo/demo',
      'keywords/index.html',
      'lists/dependents.html',
      'opensearch.xml',
      'robots.txt',
      'search/crates/3.json',
      'search/index.html',
      'search/layout.json',
      'search/ranks.json',
      'search/terms/0/0.json',
      'sitemap.xml',
      'sitemaps/0.xml',
      'sitemaps/pages.xml',
      'statistics/index.html',
    ],
  )
})
