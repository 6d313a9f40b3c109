import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import { all, type Row } from '../../../generator/database/statement.ts'
import { openRegistry } from '../../../generator/open.ts'
import { build } from '../../../generator/pages/build.ts'
import { markOutdatedPages } from '../../../generator/pages/claim.ts'
import { buildMarks, pageMarks } from '../../../generator/pages/marked.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { setYanked } from '../../../generator/records/releases-changes.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import { verifyPages } from '../../../generator/verify/pages.ts'
import { findingsOf } from '../../support/findings.ts'
import { gate } from '../../support/gate.ts'
import { TestRegistry } from '../../support/registry.ts'
import { BASE, ownDependency } from '../../support/release.ts'
import { insertRows, listMarks } from '../../support/rows.ts'
import { hookTree } from '../../support/tree-hook.ts'

const CHANGE = operatorChange('2026-11-20T12:00:00Z')

/** A registry with two versions of `shown`, on which `user-of` depends. */
async function filled(t: Parameters<typeof TestRegistry.open>[0]): Promise<TestRegistry> {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const files = { 'src/lib.rs': '', 'README.md': 'secret' }
  await registry.publish(token, { name: 'shown', version: '1.10.0', files })
  registry.now = new Date('2026-11-21T00:00:00Z')
  await registry.publish(token, { name: 'shown', version: '1.9.0' })
  const { manifest, metadata } = ownDependency('shown')
  const user = { name: 'user-of', version: '0.1.0', manifest }
  await registry.publish(token, user, { deps: [metadata] })
  await registry.indexWorker.pages.flush()
  return registry
}

type Fields = Record<string, unknown>

async function record(registry: TestRegistry, name: string) {
  const text = await registry.text(`crates/${name}/crate.json`)
  return JSON.parse(text) as Fields & { readonly versions: Fields[] }
}

test('crate.json is everything about a crate, newest version first, without READMEs', async t => {
  const registry = await filled(t)
  const { versions, ...head } = await record(registry, 'shown')
  assert.deepEqual(head, {
    name: 'shown',
    newest_version: '1.10.0',
    owners: [{ login: 'alice', name: null, url: 'http://crates.test/users/alice/' }],
    yanked: false,
    description: 'A crate for tests',
    license: 'MIT',
    homepage: null,
    documentation: null,
    repository: null,
    keywords: [],
    categories: [],
    created_at: '2026-11-20T12:00:00Z',
    updated_at: '2026-11-21T00:00:00Z',
    dependents: 1,
  })
  const shown = versions.map(version => {
    assert.equal(typeof version.size, 'number')
    return [version.download, version.published_at, version.published_by]
  })
  assert.deepEqual(shown, [
    [`${BASE}/crates/shown/shown-1.10.0.crate`, '2026-11-20T12:00:00Z', 'alice'],
    [`${BASE}/crates/shown/shown-1.9.0.crate`, '2026-11-21T00:00:00Z', 'alice'],
  ])
  const lines = (await registry.text('index/sh/ow/shown')).trimEnd().split('\n')
  assert.deepEqual(
    versions.map(version => version.entry),
    lines.map(line => JSON.parse(line) as unknown),
  )
  assert.doesNotMatch(JSON.stringify(versions), /secret/)
  const response = await registry.request('GET', '/crates/shown/crate.json')
  assert.deepEqual([response.status, response.headers.get('cache-control')], [200, 'no-cache'])
})

test('a yank and a lost dependent show in crate.json', async t => {
  const registry = await filled(t)
  const change = async (version: string, name = 'shown') => {
    await setYanked(registry.registry, name as Name, version as never, true, CHANGE)
    await buildPages(registry.registry)
  }
  await change('1.10.0')
  const shown = await record(registry, 'shown')
  assert.deepEqual([shown.newest_version, shown.yanked, shown.dependents], ['1.9.0', false, 1])
  assert.deepEqual(
    shown.versions.map(version => (version.entry as { yanked: boolean }).yanked),
    [true, false],
  )
  await change('0.1.0', 'user-of')
  assert.equal((await record(registry, 'shown')).dependents, 0)
  await change('1.9.0')
  const all = await record(registry, 'shown')
  assert.deepEqual([all.newest_version, all.yanked], ['1.10.0', true])
})

test('feeds: newest first, absolute links, text that is safe in XML', async t => {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_REGISTRY_TITLE: 'Cargo & <Co>' } })
  const token = await registry.user('alice')
  const manifest = `[package]\nname = "feed_me"\nversion = "1.0.0+x.1"\nlicense = "MIT"\ndescription = "a < b && \\"c\\" \\u0007"`
  await registry.publish(token, { name: 'feed_me', version: '1.0.0+x.1', manifest })
  await registry.indexWorker.pages.flush()
  const title = 'Cargo &amp; &lt;Co&gt;'
  const summary = '<summary>a &lt; b &amp;&amp; &quot;c&quot; \ufffd</summary>'
  const at = '<updated>2026-11-20T12:00:00Z</updated>'
  const head = (path: string, words: string, page: string) =>
    `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${BASE}/${path}</id>
<title>${words}</title>
${at}
<author><name>${title}</name></author>
<link rel="self" type="application/atom+xml" href="${BASE}/${path}"/>
<link rel="alternate" type="text/html" href="${BASE}/${page}"/>
`
  const release = `<entry>
<id>${BASE}/crates/feed_me/feed_me-1.0.0+x.1.crate</id>
<title>feed_me 1.0.0+x.1</title>
${at}
<published>2026-11-20T12:00:00Z</published>
<author><name>alice</name></author>
<link rel="alternate" type="text/html" href="${BASE}/crates/feed_me/1.0.0+x.1/"/>
${summary}
</entry>
</feed>
`
  const crate = release
    .replace('<author><name>alice</name></author>\n', '')
    .replace('feed_me-1.0.0+x.1.crate', '')
    .replace('feed_me 1.0.0+x.1', 'feed_me')
    .replace('feed_me/1.0.0+x.1/', 'feed_me/')
  const expected = {
    'feeds/updates.xml': head('feeds/updates.xml', `Updates – ${title}`, '') + release,
    'feeds/crates.xml': head('feeds/crates.xml', `New crates – ${title}`, '') + crate,
    'crates/feed_me/feed.xml':
      head('crates/feed_me/feed.xml', `feed_me – ${title}`, 'crates/feed_me/') + release,
  }
  for (const [path, text] of Object.entries(expected)) {
    assert.equal(await registry.shown(path), text)
    const response = await registry.request('GET', `/${path}`)
    assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  }
})

test('feeds have their length and their order', async t => {
  const registry = await TestRegistry.open(t)
  const { database } = registry.registry
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'long', version: '0.0.0' })
  const [template] = await all<Row<'releases'>>(database, 'SELECT * FROM releases')
  assert.ok(template)
  const rows = Array.from({ length: 119 }, (_, at) => {
    const version = `0.0.${at + 1}` as Version
    const published_at = at === 5 ? null : `2026-11-${10 + (at % 7)}T00:00:00Z`
    const identity = versionIdentity(version)
    return { ...template, id: at + 10, version, identity, published_at }
  })
  await insertRows(database, 'releases', rows)
  await buildPages(registry.registry, { all: true })
  const entries = async (path: string) =>
    [...(await registry.text(path)).matchAll(/<title>long (\S+)<\/title>\n<updated>(\S+)</g)].map(
      match => [match[1], match[2]],
    )
  const timed = [{ ...template }, ...rows]
    .filter(row => row.published_at !== null)
    .sort((a, b) => (a.published_at ?? '').localeCompare(b.published_at ?? '') || a.id - b.id)
    .reverse()
    .map(row => [row.version, row.published_at])
  assert.deepEqual(await entries('crates/long/feed.xml'), timed.slice(0, 50))
  assert.deepEqual(await entries('feeds/updates.xml'), timed.slice(0, 100))
})

test('an empty registry has feeds without entries, whose bytes never change', async t => {
  const registry = await TestRegistry.open(t)
  await buildPages(registry.registry, { all: true })
  const text = await registry.text('feeds/updates.xml')
  assert.match(text, /<updated>1970-01-01T00:00:00Z<\/updated>/)
  assert.equal(text.includes('<entry>'), false)
})

test('a tree that was removed comes back byte for byte', async t => {
  const registry = await filled(t)
  const before = await registry.everything()
  rmSync(join(registry.dir, 'public'), { recursive: true })
  await build(registry.registry)
  assert.equal((await buildPages(registry.registry)).crates, 2)
  assert.deepEqual(await registry.everything(), before)
  assert.equal((await buildPages(registry.registry)).crates, 0)
})

test('another title or address outdates every page, once', async t => {
  const registry = await filled(t)
  const sources = { env: { PLIMSOLL_REGISTRY_BASE_URL: 'https://elsewhere.example' } }
  const other = await openRegistry(registry.dir, sources)
  t.after(() => other.close())
  assert.equal((await buildPages(other)).crates, 2)
  assert.equal((await buildPages(other)).crates, 0)
  const renamed = { ...other, site: { ...other.site, title: 'Renamed' } }
  assert.equal((await buildPages(renamed)).crates, 2)
  assert.equal((await buildPages(renamed)).crates, 0)
  for (const path of ['feeds/crates.xml', 'crates/shown/crate.json'])
    assert.match(await registry.text(path), /https:\/\/elsewhere\.example\/crates\/shown\//)
})

test('`build --all` mends pages, keeps them, and removes stray feeds', async t => {
  const registry = await filled(t)
  const before = await registry.shown('crates/shown/crate.json')
  writeFileSync(join(registry.dir, 'public/crates/shown/crate.json'), '{}')
  writeFileSync(join(registry.dir, 'public/feeds/old.xml'), '')
  await build(registry.registry, { all: true })
  assert.equal(await registry.shown('crates/shown/crate.json'), '{}')
  await buildPages(registry.registry, { all: true })
  assert.equal(await registry.shown('crates/shown/crate.json'), before)
  assert.equal(await registry.shown('feeds/old.xml'), null)
})

test('verify finds and mends pages that differ; what is pending is no difference', async t => {
  const registry = await filled(t)
  const context = registry.registry
  await markOutdatedPages(context)
  await buildPages(context)
  await registry.indexWorker.settle()
  let pending = 0
  const onPending = (outputs: number) => {
    pending += outputs
  }
  const run = async (asked: { repair: boolean; served: boolean }) => {
    const options = { ...asked, onPending }
    pending = 0
    const findings = await findingsOf(verifyCrates(context, options))
    return [...findings, ...(await findingsOf(verifyPages(context, options)))]
  }
  assert.deepEqual(await run({ repair: false, served: false }), [])
  const spoilt = [
    '404.html',
    'crates/index.html',
    'crates/shown/1.9.0/index.html',
    'crates/shown/crate.json',
    'search/crates/0.json',
    'search/layout.json',
    'search/terms/0/0.json',
    'sitemap.xml',
    'sitemaps/0.xml',
  ]
  for (const path of spoilt) writeFileSync(join(registry.dir, 'public', path), 'spoilt')
  rmSync(join(registry.dir, 'public/feeds/crates.xml'))
  const faults = [
    ...spoilt.map(path => `${path}: the page differs from the records`),
    'feeds/crates.xml: the page is missing',
  ]
  assert.deepEqual((await run({ repair: false, served: false })).sort(), faults.toSorted())
  const repaired = faults.map(fault => `repaired ${fault}`)
  assert.deepEqual((await run({ repair: true, served: false })).sort(), repaired.sort())
  assert.deepEqual(await run({ repair: false, served: false }), [])
  await setYanked(context, 'shown' as Name, '1.9.0' as never, true, CHANGE)
  for (const served of [true, false]) {
    assert.deepEqual(await run({ repair: false, served }), [])
    assert.ok(pending > 3, String(pending))
  }
  const rendered = await run({ repair: true, served: false })
  assert.ok(rendered.includes('repaired crates/shown/crate.json: was still to be rendered'))
})

test('what the storage refuses while nobody waits for the page ends the turn, and nothing else', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.indexWorker.pages.close(0)
  for (const name of ['one', 'two']) await registry.publish(token, { name, version: '1.0.0' })
  const { registry: context } = registry
  const due = await pageMarks(context, context.clock(), 500)
  const pages = due.filter(({ kind }) => kind === 'page')
  assert.equal(pages.length, 2)
  const { opened: refused, open: refuse } = gate()
  const unhook = hookTree(context.tree, inner => {
    inner.write = async () => {
      refuse()
      throw new Refusal([issue('storage_full', { reason: 'full' })])
    }
  })
  let begun = 0
  const waitForIdle = async () => {
    if (++begun === 1) return
    await refused
    // Not before Node has looked for rejections that nobody handles.
    for (let times = 0; times < 2; times++) await new Promise(resolve => setImmediate(resolve))
  }
  try {
    await assert.rejects(buildMarks(context, pages, { waitForIdle }), /full/)
  } finally {
    unhook()
  }
  assert.deepEqual([begun, (await listMarks(context.database, 'page')).length], [2, 2])
})
