import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRegistry } from '../../../generator/open.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { fillRecords } from '../../support/filled-records.ts'
import { inventedEntries } from '../../support/many-crates.ts'
import { TestRegistry } from '../../support/registry.ts'
import { renderSearch } from '../../support/render-search.ts'
import { loggedIn, Visitor } from '../../support/visitor.ts'

const PRIVATE = { env: { PLIMSOLL_AUTH_REQUIRED: 'true' } }

/** The names on a page of results, as they are linked. */
function namesOn(page: string): string[] {
  return [...page.matchAll(/<a class="card" href="\.\.\/crates\/([\w-]+)\/">/g)].map(
    match => match[1] ?? '',
  )
}

test('the results page has what the API finds, in its order, page by page', async t => {
  const registry = await TestRegistry.open(t)
  await fillRecords(registry.registry, inventedEntries(400))
  await renderSearch(registry.registry)
  const response = await registry.request('GET', '/api/v1/crates?q=se&per_page=100')
  const { crates, meta } = (await response.json()) as {
    crates: { name: string }[]
    meta: { total: number }
  }
  const seen: string[] = []
  for (let page = 1; page <= Math.ceil(meta.total / 20); page++) {
    const answer = await registry.request('GET', `/search/?q=+se&page=${page}`)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=UTF-8')
    const text = await answer.text()
    assert.ok(text.includes(`${meta.total} crates for “se”`))
    seen.push(...namesOn(text))
  }
  assert.ok(meta.total > 40 && meta.total <= 100, `${meta.total}`)
  assert.deepEqual(
    seen,
    crates.map(crate => crate.name),
  )
})

test('no query, no results; a query is text; the folder without its slash leads there', async t => {
  const registry = await TestRegistry.open(t)
  await registry.publish(await registry.user('alice'), { name: 'demo', version: '1.0.0' })
  const text = async (path: string) => (await registry.request('GET', path)).text()
  assert.match(await text('/search/'), /Type a name or a few words\./)
  await registry.indexWorker.pages.flush()
  assert.deepEqual(namesOn(await text('/search/?q=demo')), ['demo'])
  const beyond = await text('/search/?q=demo&page=9')
  assert.match(beyond, /<a href="\?q=demo">← Previous<.*>There is no page 9</)
  const hostile = await text(`/search/?q=${encodeURIComponent('<b onclick=x>')}`)
  assert.ok(
    hostile.includes('No crates for “&lt;b onclick=x&gt;”') && !hostile.includes('<b onclick'),
  )
  for (const query of ['', '?q=demo%2Bx&page=2']) {
    const moved = await registry.request('GET', `/search${query}`)
    assert.deepEqual([moved.status, moved.headers.get('location')], [301, `./search/${query}`])
  }
})

test('in a private registry results take a login, and nobody is told what there is', async t => {
  const registry = await TestRegistry.open(t, PRIVATE)
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'demo', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  const { headers } = await new Visitor(registry).get('/search/?q=demo')
  assert.equal(headers.get('location'), '/me?next=%2Fsearch%2F%3Fq%3Ddemo')
  const visitor = await loggedIn(registry, 'alice')
  for (const path of ['/search/?q=demo', '/search/layout.json'])
    assert.equal((await visitor.get(path)).status, 200, path)
  const tree = registry.registry.tree
  assert.deepEqual([await tree.files('sitemaps'), await tree.has('sitemap.xml')], [[], false])
  assert.equal(await registry.shown('robots.txt'), 'User-agent: *\nDisallow: /\n')
})

test('a public registry has a site map, which a private one loses', async t => {
  const registry = await TestRegistry.open(t)
  await registry.publish(await registry.user('alice'), { name: 'demo', version: '1.0.0' })
  await registry.indexWorker.pages.flush()
  assert.match(await registry.text('sitemaps/0.xml'), /<loc>http:\/\/crates\.test\/crates\/demo\/</)
  assert.match(await registry.text('sitemap.xml'), /sitemaps\/pages\.xml<.*sitemaps\/0\.xml</s)
  assert.match(await registry.text('robots.txt'), /^Sitemap: http:\/\/crates\.test\/sitemap\.xml$/m)
  const hidden = await openRegistry(registry.dir, PRIVATE)
  t.after(() => hidden.close())
  await buildPages(hidden)
  assert.equal(await hidden.tree.has('sitemap.xml'), false)
  assert.equal((await hidden.tree.folders('')).includes('sitemaps'), false)
})
