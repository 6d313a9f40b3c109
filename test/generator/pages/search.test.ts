import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Name } from '../../../core/name.ts'
import { POSTINGS_MAX } from '../../../core/search/buckets.ts'
import { hashOf } from '../../../core/search/hash.ts'
import { Lookup } from '../../../core/search/lookup.ts'
import type { Leniency } from '../../../core/search/plan.ts'
import { deleteReleases } from '../../../generator/delete.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { rebucketTerms } from '../../../generator/pages/search.ts'
import { type SearchedCrate, searchFiles } from '../../../generator/search/whole.ts'
import { listMarks } from '../../../generator/store/catalog/marks.ts'
import { refreshTerms } from '../../../generator/store/catalog/search/pending-terms.ts'
import { searchFor } from '../../../generator/search/search.ts'
import { readLayout } from '../../../generator/store/catalog/search/search-files.ts'
import { run } from '../../../generator/store/database/statement.ts'
import type { PublicTree } from '../../../generator/store/public-tree.ts'
import { fillCatalog } from '../../support/filled-catalog.ts'
import { fileStamps, filesBelow } from '../../support/folder.ts'
import { inventedEntries } from '../../support/many-crates.ts'
import { inventedQueries } from '../../support/queries.ts'
import { TestRegistry } from '../../support/registry.ts'
import { hookTree } from '../../support/tree-hook.ts'

const CHANGE = { at: '2026-11-20T12:00:00Z', actor: 'test', user: null, tokenId: null }

/** Crates with what real ones have, besides what the invented ones do. */
const ENTRIES = inventedEntries(2000).map((entry, at) => ({
  ...entry,
  name:
    at % 7 === 0
      ? entry.name.replaceAll('-', '_')
      : at % 11 === 0
        ? entry.name.toUpperCase()
        : entry.name,
  about: {
    ...entry.about,
    description:
      at % 5 === 0
        ? `Größe & ${entry.about.description} of the Ångström`
        : at % 13 === 0
          ? null
          : entry.about.description,
  },
}))

async function openFilled(
  t: TestContext,
  entries: readonly SearchedCrate[],
): Promise<TestRegistry> {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_PAGES_SOURCE: 'false' } })
  await buildPages(registry.registry)
  await fillCatalog(registry.registry, entries)
  await buildSearch(registry)
  return registry
}

/** Renders the files of the search, and leaves out what takes long and is tested elsewhere: the pages of crates. */
async function buildSearch({ registry }: TestRegistry): Promise<void> {
  const kinds = ['page', 'release', 'list'] as const
  await registry.database.deleteFrom('marks').where('kind', 'in', kinds).execute()
  await buildPages(registry)
}

function lookupIn({ registry }: TestRegistry): Lookup {
  return new Lookup(async path => {
    const bytes = await registry.tree.read(`search/${path}`)
    if (bytes === null) throw new Error(`there is no ${path}`)
    return bytes.toString()
  })
}

/** Holds what the browser finds against what the API does. */
async function compare(registry: TestRegistry, queries: readonly string[]): Promise<void> {
  const lookup = lookupIn(registry)
  let found = 0
  for (const [at, query] of queries.entries()) {
    const limit = [1, 8, 30][at % 3] ?? 8
    const response = await registry.request(
      'GET',
      `/api/v1/crates?q=${encodeURIComponent(query)}&per_page=${limit}`,
    )
    const { crates, meta } = (await response.json()) as {
      crates: { name: string }[]
      meta: Leniency & { total: number; words: number; matched_words: number }
    }
    const mine = await lookup.search(searchFor(query), limit)
    const [names, expected] = [mine.crates, crates].map(list => list.map(one => one.name))
    const what = `“${query}”, ${limit}`
    assert.deepEqual(names, expected, what)
    if (mine.isLeast) assert.ok(mine.total <= meta.total, what)
    else assert.equal(mine.total, meta.total, what)
    const { words, matched, leniency } = mine
    const { words: of, matched_words, ...meant } = meta
    assert.deepEqual([words, matched], [of, matched_words], what)
    for (const key of ['similar', 'suggested', 'missing'] as const)
      assert.deepEqual(leniency[key], meant[key], what)
    found += crates.length
  }
  assert.ok(found > queries.length, `only ${found} crates in ${queries.length} searches`)
}

const QUERIES = inventedQueries(ENTRIES, 500)

/** Adds what `fillCatalog` gives all crates. */
function asInCatalog(entries: readonly SearchedCrate[]): SearchedCrate[] {
  return entries.map(one => ({
    ...one,
    about: { ...one.about, license: 'MIT' },
    updatedAt: '2026-11-20T12:00:00Z',
  }))
}

test('the browser finds what the API finds, in its order, and knows whether there is more', async t => {
  const registry = await openFilled(t, ENTRIES)
  await compare(registry, [
    ...QUERIES,
    'größe',
    'GROSSE',
    'angstrom und',
    'c++',
    '"',
    'a b c d e f',
  ])
})

test('it does so after a publish, a yank, a deletion, and when the terms are spread over more files', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 150))
  const token = await registry.user('alice')
  const queries = inventedQueries(ENTRIES.slice(0, 150), 60)
  const first = await readLayout(registry.registry.database)
  await compare(registry, queries)
  const publish = async (name: string, version: string, description: string) => {
    const manifest = `[package]\nname = "${name}"\nversion = "${version}"\nlicense = "MIT"\ndescription = "${description}"`
    assert.equal((await registry.publish(token, { name, version, manifest })).status, 200)
    await buildSearch(registry)
  }
  const names = async (query: string) =>
    (await lookupIn(registry).search(searchFor(query), 9)).crates.map(one => one.name)
  await publish('zulu-hotel', '1.0.0', 'Quite unheard of')
  assert.deepEqual(await names('zulu'), ['zulu-hotel'])
  await compare(registry, [...queries, 'zulu', 'zulu hotel', 'unheard', 'zulu quite'])
  await publish('zulu-hotel', '1.1.0', 'Wellknown by now')
  assert.deepEqual([await names('unheard'), await names('wellknown')], [[], ['zulu-hotel']])
  await publish('zulu', '0.1.0', 'A zulu')
  assert.deepEqual(await names('zulu'), ['zulu', 'zulu-hotel'])
  await registry.request('DELETE', '/api/v1/crates/zulu/0.1.0/yank', token)
  await buildSearch(registry)
  assert.deepEqual(await names('zulu'), ['zulu-hotel', 'zulu'])
  await compare(registry, [...queries, 'zulu', 'zulu hotel', 'unheard', 'zulu quite'])
  await deleteReleases(
    registry.registry,
    { name: 'zulu-hotel' as Name, version: null, force: true },
    CHANGE,
  )
  await buildSearch(registry)
  assert.deepEqual(await names('zulu hotel'), ['zulu'])
  await compare(registry, [...queries, 'zulu', 'hotel', 'wellknown', 'zulu'])
  await fillCatalog(registry.registry, ENTRIES.slice(150, 700))
  await buildSearch(registry)
  const then = await readLayout(registry.registry.database)
  assert.ok((then.now ?? 0) > (first.now ?? 99), JSON.stringify([first, then]))
  assert.deepEqual(readdirSync(join(registry.registry.tree.root, 'search/terms')), [
    String(then.now),
  ])
  await compare(registry, [...inventedQueries(ENTRIES.slice(0, 700), 100), 'zulu', 'hotel'])
})

test('what each change renders is what rendering everything gives, byte for byte', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 40))
  const token = await registry.user('alice')
  for (const version of ['1.0.0', '2.0.0'])
    await registry.publish(token, { name: 'changing', version })
  await buildPages(registry.registry)
  for (const name of ['passing', 'staying'])
    await registry.publish(token, { name, version: '1.0.0' })
  await registry.request('DELETE', '/api/v1/crates/changing/2.0.0/yank', token)
  await registry.request('DELETE', '/api/v1/crates/staying/1.0.0/yank', token)
  await buildPages(registry.registry)
  await deleteReleases(
    registry.registry,
    { name: 'passing' as Name, version: null, force: true },
    CHANGE,
  )
  await fillCatalog(registry.registry, ENTRIES.slice(40, 80))
  await buildPages(registry.registry)
  const parts = ['search', 'sitemaps', 'sitemap.xml', 'robots.txt', 'opensearch.xml']
  const stamps = () => {
    const all = Object.entries(fileStamps(registry.registry.tree.root))
    return Object.fromEntries(
      all.filter(([path]) => parts.some(part => path === part || path.startsWith(`${part}/`))),
    )
  }
  const before = stamps()
  assert.ok(before['search/layout.json'] && before['search/index.html'] && before['sitemap.xml'])
  await buildPages(registry.registry, { all: true })
  assert.deepEqual(stamps(), before)
})

test('a tree from files alone has the same search as the catalog of the same crates', async t => {
  const byName = ENTRIES.slice(0, 300)
    .map(entry => ({ entry, key: entry.name.toLowerCase().replaceAll('-', '_') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(one => one.entry)
  const registry = await openFilled(t, byName)
  const files = new Map(
    [...searchFiles(asInCatalog(byName))].map(file => [file.path, file.bytes.toString()]),
  )
  const root = join(registry.registry.tree.root, 'search')
  const mine = filesBelow(root).filter(path => path !== 'index.html')
  assert.deepEqual(
    mine.map(path => `search/${path}`),
    [...files.keys()].sort(),
  )
  for (const [path, body] of files) assert.equal(await registry.shown(path), body, path)
})

test('a term that comes to find very many crates gets more files, which go when it finds fewer', async t => {
  const entries = Array.from({ length: POSTINGS_MAX + 1 }, (_, at) => ({
    name: `c${String(at).padStart(4, '0')}${at % 5 === 0 ? '_x' : ''}`,
    newest: '1.0.0',
    about: {
      description: at % 3 === 0 ? 'common and more' : 'common',
      keywords: at === 4000 ? ['needle'] : [],
    },
    yanked: at % 9 === 0,
  }))
  const registry = await openFilled(t, entries.slice(0, POSTINGS_MAX))
  const { tree } = registry.registry
  assert.deepEqual(await tree.folders('search/common'), [])
  await fillCatalog(registry.registry, entries.slice(POSTINGS_MAX))
  await buildSearch(registry)
  const hashes = ['c', 'common', 'license:mit'].map(term => String(hashOf(term)))
  assert.deepEqual((await tree.folders('search/common')).sort(), hashes.sort())
  const files = new Map(
    [...searchFiles(asInCatalog(entries))].map(file => [file.path, file.bytes.toString()]),
  )
  for (const [path, body] of files) assert.equal(await registry.shown(path), body, path)
  const queries = [
    'common c',
    'common needle',
    'c x',
    'common x',
    'c1 common more',
    'common c and',
    'more c2',
    'needle c',
  ]
  await compare(registry, queries)
  const name = entries[2]?.name as Name
  await deleteReleases(registry.registry, { name, version: null, force: true }, CHANGE)
  await buildSearch(registry)
  assert.deepEqual(await tree.folders('search/common'), [])
  await compare(registry, queries)
})

/** Makes a file of the tree one that cannot be written, until the obstacle is removed. */
function placeObstacle(tree: PublicTree, path: string): () => void {
  return hookTree(tree, inner => {
    const { write } = inner
    inner.write = async output => {
      if (output.path === path) throw new Error('there is an obstacle')
      return write.call(inner, output)
    }
  })
}

test('a spreading that is interrupted leaves the old files to the readers, and is finished by the next build', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 30))
  const { database, tree } = registry.registry
  const before = (await readLayout(database)).now ?? -1
  await fillCatalog(registry.registry, ENTRIES.slice(30, 200))
  await database.deleteFrom('marks').where('kind', 'in', ['page', 'release', 'list']).execute()
  // The buckets are so full meanwhile that a search may not look for words like its own.
  const names = ENTRIES.slice(0, 40).map(one => one.name)
  const remove = placeObstacle(tree, 'search/terms/6/40.json')
  const { issues } = await buildPages(registry.registry)
  assert.deepEqual(
    issues.map(one => one.code),
    ['page_failed'],
  )
  assert.deepEqual(await readLayout(database), { now: before, next: 6 })
  assert.ok(existsSync(tree.path('search/terms/6/39.json')))
  await compare(registry, names)
  // A change meanwhile is in the files of both.
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'meanwhile', version: '1.0.0' })
  await buildSearch(registry)
  assert.equal((await readLayout(database)).next, 6)
  await compare(registry, ['meanwhile', 'mean', ...names])
  remove()
  await buildSearch(registry)
  assert.deepEqual(await readLayout(database), { now: 6, next: null })
  assert.deepEqual(readdirSync(tree.path('search/terms')), ['6'])
  await compare(registry, ['meanwhile', 'mean', ...inventedQueries(ENTRIES.slice(0, 200), 40)])
})

test('a layout that the terms outgrow while it is written is followed by a whole one', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { registry: context } = registry
  await registry.indexWorker.pages.close(0)
  await registry.publish(token, { name: 'few', version: '1.0.0' })
  await buildPages(context)
  assert.deepEqual(await readLayout(context.database), { now: 0, next: null })
  const words = Array.from({ length: 150 }, (_, at) => `w${at}x`).join(' ')
  const head = '[package]\nname = "many"\nversion = "1.0.0"\nlicense = "MIT"'
  const manifest = `${head}\ndescription = "${words}"\n`
  await registry.publish(token, { name: 'many', version: '1.0.0', manifest })
  await rebucketTerms(context)
  assert.deepEqual(await readLayout(context.database), { now: 0, next: 0 })
  await refreshTerms(context.database, 'terms')
  // Their own marks would write most buckets, too.
  await context.database.deleteFrom('marks').where('kind', '=', 'search').execute()
  await buildPages(context)
  assert.deepEqual(await readLayout(context.database), { now: 2, next: null })
  const folder = join(context.dir, 'public', 'search', 'terms')
  assert.deepEqual(filesBelow(folder), ['2/0.json', '2/1.json', '2/2.json', '2/3.json'])
})

test('nobody finds nothing left to render before a layout that the terms need', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { registry: context } = registry
  const { database } = context
  await registry.indexWorker.pages.close(0)
  await registry.publish(token, { name: 'few', version: '1.0.0' })
  await buildPages(context)
  const words = Array.from({ length: 150 }, (_, at) => `w${at}x`).join(' ')
  const head = '[package]\nname = "many"\nversion = "1.0.0"\nlicense = "MIT"'
  const manifest = `${head}\ndescription = "${words}"\n`
  await registry.publish(token, { name: 'many', version: '1.0.0', manifest })
  await run(
    database,
    `CREATE TRIGGER no_spread BEFORE INSERT ON marks WHEN NEW.kind = 'spread'
      BEGIN SELECT RAISE(ABORT, 'no spread'); END`,
  )
  await assert.rejects(buildPages(context), /no spread/)
  assert.equal((await listMarks(database, 'site')).length, 1)
  await run(database, 'DROP TRIGGER no_spread')
  await buildPages(context)
  assert.deepEqual(await readLayout(database), { now: 2, next: null })
})
