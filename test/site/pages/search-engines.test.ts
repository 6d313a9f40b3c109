import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSearch, robots, sitemaps } from '../../../site/pages/search-engines.ts'
import { demoFacts } from '../../support/demo-site.ts'

const site = demoFacts('https://crates.example.com/team')

test('robots.txt asks for what it should', () => {
  assert.equal(
    robots(site).bytes.toString(),
    'User-agent: *\nDisallow: /team/me\nDisallow: /team/search/\nDisallow: /team/crates/*/*/src/\nSitemap: https://crates.example.com/team/sitemap.xml\n',
  )
  assert.equal(robots({ ...site, private: true }).bytes.toString(), 'User-agent: *\nDisallow: /\n')
})

test('the site map is split by ids, and has every crate once', () => {
  const crates = Array.from({ length: 2_500 }, (_, at) => ({
    name: `c${at}`,
    updatedAt: at % 2 === 0 ? '2026-11-20T12:00:00Z' : null,
  }))
  const files = new Map([...sitemaps(site, crates)].map(file => [file.path, file.bytes.toString()]))
  const index = [
    ...(files.get('sitemap.xml') ?? '').matchAll(
      /<loc>https:\/\/crates.example.com\/team\/(.*?)</g,
    ),
  ]
  const parts = ['sitemaps/pages.xml', 'sitemaps/0.xml', 'sitemaps/1.xml', 'sitemaps/2.xml']
  assert.deepEqual(
    index.map(match => match[1]),
    parts,
  )
  assert.deepEqual([...files.keys()].sort(), ['sitemap.xml', ...parts].sort())
  const counts = parts.map(path => files.get(path)?.match(/<url>/g)?.length)
  assert.deepEqual(counts, [6, 999, 1000, 501])
  const locations = [...files.values()].flatMap(text => text.match(/<loc>.*?<\/loc>/g) ?? [])
  assert.equal(new Set(locations).size, 2_500 + 6 + 4)
  assert.match(
    files.get('sitemaps/0.xml') ?? '',
    /<url><loc>https:\/\/crates.example.com\/team\/crates\/c0\/<\/loc><lastmod>2026-11-20T12:00:00Z<\/lastmod><\/url>/,
  )
})

test('opensearch.xml leads to the search page', () => {
  assert.ok(
    openSearch(site)
      .bytes.toString()
      .includes('template="https://crates.example.com/team/search/?q={searchTerms}"'),
  )
})
