import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { output } from '../../../../core/paths/tree.ts'
import { Lookup } from '../../../../core/search/lookup.ts'
import type { Leniency } from '../../../../core/search/plan.ts'
import { isOnServer } from '../../../../generator/database/engine.ts'
import { LIST, run, value } from '../../../../generator/database/statement.ts'
import { pageMarks, pageWork } from '../../../../generator/pages/marked.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import type { PublicTree } from '../../../../generator/places/public-tree.ts'
import { readState } from '../../../../generator/projections/search/files.ts'
import { search as crateTerms } from '../../../../generator/projections/search/projection.ts'
import { searchCrates } from '../../../../generator/projections/search/search.ts'
import { fillRecords } from '../../../support/filled-records.ts'
import { fileStamps, filesBelow, sumsBelow } from '../../../support/folder.ts'
import { inventedEntries } from '../../../support/many-crates.ts'
import { inventedQueries } from '../../../support/queries.ts'
import { TestRegistry } from '../../../support/registry.ts'
import { searchFor } from '../../../support/render-search.ts'
import { hookTree } from '../../../support/tree-hook.ts'
import { type SearchedCrate, searchFiles } from '../../../support/whole-search.ts'

/** Crates with what real ones have, besides what the invented ones do. */
const ENTRIES = inventedEntries(800).map((entry, at) => {
  const { name, about } = entry
  const spelled = at % 11 === 0 ? name.toUpperCase() : name
  const plain = at % 13 === 0 ? null : about.description
  const odd = `Größe & ${about.description} of the Ångström`
  return {
    ...entry,
    name: at % 7 === 0 ? name.replaceAll('-', '_') : spelled,
    about: { ...about, description: at % 5 === 0 ? odd : plain },
  }
})

async function openFilled(t: TestContext, entries: readonly SearchedCrate[]) {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_PAGES_SOURCE: 'false' } })
  await buildPages(registry.registry)
  await fillRecords(registry.registry, entries)
  await buildSearch(registry)
  return registry
}

/** Renders the files of the search, and leaves out what takes long and is tested elsewhere: the pages of crates. */
async function buildSearch({ registry }: TestRegistry): Promise<void> {
  const kinds = ['page', 'release', 'list'] as const
  await run(registry.database, `DELETE FROM marks WHERE kind IN ${LIST}`, kinds)
  await buildPages(registry)
}

function lookupIn({ registry }: TestRegistry): Lookup {
  const load = async (path: string) => {
    const bytes = await registry.tree.read(`search/${path}`)
    if (bytes === null) throw new Error(`there is no ${path}`)
    return bytes.toString()
  }
  return new Lookup({ load })
}

/** Holds what the browser finds against what the API does. */
async function compare(registry: TestRegistry, queries: readonly string[]): Promise<void> {
  const lookup = lookupIn(registry)
  let hits = 0
  for (const [at, query] of queries.entries()) {
    const limit = [1, 8, 30][at % 3] ?? 8
    const path = `/api/v1/crates?q=${encodeURIComponent(query)}&per_page=${limit}`
    const { crates, meta } = (await (await registry.request('GET', path)).json()) as {
      crates: { name: string }[]
      meta: Leniency & { total: number; words: number; matched_words: number }
    }
    const mine = await lookup.search(searchFor(query), limit)
    const [names, expected] = [mine.crates, crates].map(list => list.map(item => item.name))
    const what = `“${query}”, ${limit}`
    assert.deepEqual(names, expected, what)
    assert.equal(mine.total, meta.total, what)
    const { words, matched, leniency } = mine
    const { words: of, matched_words, ...meant } = meta
    assert.deepEqual([words, matched], [of, matched_words], what)
    for (const key of ['similar', 'suggested', 'missing'] as const)
      assert.deepEqual(leniency[key], meant[key], what)
    hits += crates.length
  }
  assert.ok(hits > queries.length, `only ${hits} crates in ${queries.length} searches`)
}

test('the browser finds what the API finds, in its order, and knows whether there is more', async t => {
  const registry = await openFilled(t, ENTRIES)
  const odd = ['größe', 'GROSSE', 'angstrom und', 'c++', '"', 'a b c d e f']
  await compare(registry, [...inventedQueries(ENTRIES, 200), ...odd])
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
  await registry.delete('passing')
  await fillRecords(registry.registry, ENTRIES.slice(40, 80))
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

test('a tree from files alone has the same search as the records of the same crates', async t => {
  const key = ({ name }: SearchedCrate) => name.toLowerCase().replaceAll('-', '_')
  const byName = ENTRIES.slice(0, 300).sort((a, b) => (key(a) < key(b) ? -1 : 1))
  const registry = await openFilled(t, byName)
  // What `fillRecords` gives all crates.
  const files = searchFiles(
    byName.map(entry => ({
      ...entry,
      about: { ...entry.about, license: 'MIT' },
      updatedAt: '2026-11-20T12:00:00Z',
    })),
  )
  const expected = ['index.html']
  for (const { path, bytes } of files) {
    assert.equal(await registry.shown(path), bytes.toString(), path)
    expected.push(path.slice('search/'.length))
  }
  assert.deepEqual(filesBelow(registry.registry.tree.path('search')), expected.sort())
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

const bitsOf = async ({ registry }: TestRegistry) =>
  (await readState(registry.database)).layout?.bits

test('a larger layout that is interrupted leaves the old files to searches, and is finished by the next build', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 30))
  const { database, tree } = registry.registry
  assert.equal(await bitsOf(registry), 2)
  await fillRecords(registry.registry, ENTRIES.slice(30, 200))
  await run(database, `DELETE FROM marks WHERE kind IN ${LIST}`, ['page', 'release', 'list'])
  const names = ENTRIES.slice(0, 40).map(entry => entry.name)
  const remove = placeObstacle(tree, 'search/terms/6/40.json')
  const { issues } = await buildPages(registry.registry)
  assert.equal(String(issues.map(issue => issue.code)), 'page_failed')
  assert.equal(await bitsOf(registry), 2)
  assert.ok(existsSync(tree.path('search/terms/6/39.json')))
  await compare(registry, names)
  // A change meanwhile is in the files that searches read.
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'meanwhile', version: '1.0.0' })
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 2)
  await compare(registry, ['meanwhile', 'mean', ...names])
  remove()
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 6)
  assert.deepEqual(readdirSync(tree.path('search/terms')), ['6'])
  await compare(registry, ['meanwhile', 'mean', ...inventedQueries(ENTRIES.slice(0, 200), 40)])
})

test('a layout that the registry outgrows while it is written is followed by a larger one', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 8))
  assert.equal(await bitsOf(registry), 0)
  const remove = placeObstacle(registry.registry.tree, 'search/terms/2/3.json')
  await fillRecords(registry.registry, ENTRIES.slice(8, 20))
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 0)
  await fillRecords(registry.registry, ENTRIES.slice(20, 60))
  remove()
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 4)
  const { database, tree } = registry.registry
  assert.deepEqual(readdirSync(tree.path('search/terms')), ['4'])
  // The mark of a bucket of more bits, as there were when there were more crates.
  const bucket = await tree.read('search/terms/4/0.json')
  const sql = "INSERT INTO marks (kind, subject, generation) VALUES ('search', ?, 0)"
  await run(database, sql, 2 ** 40 + 200)
  await buildSearch(registry)
  assert.deepEqual(await tree.read('search/terms/4/0.json'), bucket)
})

test('a registry with fewer crates has the layout that a whole build gives it', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 8))
  const { tree } = registry.registry
  const before = sumsBelow(tree.path('search/terms'))
  await registry.publish(await registry.user('alice'), { name: 'passing', version: '1.0.0' })
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 2)
  await registry.delete('passing')
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 0)
  assert.deepEqual(sumsBelow(tree.path('search/terms')), before)
})

test('an upgrade from files in shards derives the search again, and leaves none of them', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 8))
  const { database, tree } = registry.registry
  const text = '{"now":{"format":4,"bits":0,"shards":2},"next":null}'
  await run(database, "UPDATE facts SET value = ? WHERE key = 'search_layouts'", text)
  await run(database, 'UPDATE search_terms SET shard = 1')
  const shards = ['ranks/0.json', 'rust/1.json', 'terms/0/0/0.json', 'terms/0/1/0.json']
  for (const path of [...shards.map(path => `search/${path}`), 'search/layout.json'])
    await tree.write(output(path, text))
  await buildPages(registry.registry, { all: true })
  assert.equal(await value(database, 'SELECT count(*) FROM search_terms WHERE shard > 0'), 0)
  assert.equal(await bitsOf(registry), 0)
  const left = readdirSync(tree.path('search'), { recursive: true }).map(String).sort()
  assert.deepEqual(
    left.filter(path => path.endsWith('.json')),
    [
      'crates/0.json',
      'crates/1.json',
      'crates/2.json',
      'layout.json',
      'ranks.json',
      'terms/0/0.json',
    ],
  )
  const [first] = ENTRIES
  const answer = await registry.request('GET', `/api/v1/crates?q=${first?.name}`)
  assert.equal(((await answer.json()) as { crates: { id: string }[] }).crates[0]?.id, first?.name)
})

test('nobody finds nothing left to render before a layout that the registry needs', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 8))
  const { database } = registry.registry
  // The subject of a layout.
  const layout = 4 * 2 ** 40
  await run(
    database,
    `CREATE TRIGGER no_layout BEFORE INSERT ON marks
      WHEN NEW.kind = 'search' AND NEW.subject >= ${layout} BEGIN SELECT RAISE(ABORT, 'no layout'); END`,
  )
  await fillRecords(registry.registry, ENTRIES.slice(8, 20))
  await buildSearch(registry)
  assert.ok((await pageWork(registry.registry)).count > 0)
  const drop = isOnServer(database) ? 'DROP FUNCTION no_layout CASCADE' : 'DROP TRIGGER no_layout'
  await run(database, drop)
  await buildSearch(registry)
  assert.equal(await bitsOf(registry), 2)
})

test('a search between the first crate and the first layout waits for that layout', async t => {
  const registry = await TestRegistry.open(t)
  await fillRecords(registry.registry, ENTRIES.slice(0, 1))
  const { clock } = registry.registry
  const [mark] = await pageMarks(registry.registry, clock(), 1, ['search'])
  assert.ok(mark)
  // As within a batch of pages, which is followed only when all of it is rendered.
  await crateTerms.render(registry.registry, mark, [])
  const answer = await registry.request('GET', `/api/v1/crates?q=${ENTRIES[0]?.name}`)
  const { meta } = (await answer.json()) as { meta?: { total: number } }
  assert.deepEqual([answer.status, meta?.total], [200, 1])
})

test('before the files are complete for the first time, a search says so', async t => {
  const registry = await openFilled(t, ENTRIES.slice(0, 8))
  await run(registry.registry.database, "DELETE FROM facts WHERE key = 'search_layouts'")
  await registry.registry.tree.remove('search/layout.json')
  const slice = { limit: 9, offset: 0 }
  await assert.rejects(searchCrates(registry.registry, searchFor('x'), slice), /try again/)
  const answer = await registry.request('GET', '/api/v1/crates?q=x')
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '10'])
  assert.equal((await registry.request('GET', '/search/?q=x')).status, 503)
  // A list of all crates needs no files.
  assert.equal((await registry.request('GET', '/api/v1/crates')).status, 200)
  await buildPages(registry.registry, { all: true })
  assert.equal((await registry.request('GET', '/api/v1/crates?q=x')).status, 200)
})
