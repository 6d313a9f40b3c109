import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  openSearch,
  robots,
  sitemapIndex,
  sitemapPart,
} from '../../../site/pages/search-engines.ts'
import { demoConfig } from '../../support/demo-config.ts'

const site = demoConfig('https://crates.example.com/team')

test('robots.txt asks for what it should', () => {
  assert.equal(
    robots(site).bytes.toString(),
    'User-agent: *\nDisallow: /team/me\nDisallow: /team/search/\nDisallow: /team/crates/*/*/src/\nSitemap: https://crates.example.com/team/sitemap.xml\n',
  )
  assert.equal(robots({ ...site, private: true }).bytes.toString(), 'User-agent: *\nDisallow: /\n')
})

test('the site map names its parts, and a part every crate', () => {
  const crates = [
    { name: 'c0', updatedAt: '2026-11-20T12:00:00Z' },
    { name: 'c1', updatedAt: null },
  ]
  const [pages, index] = sitemapIndex(site, [0, 2]).map(file => file.bytes.toString())
  assert.deepEqual(
    [...(index ?? '').matchAll(/<loc>https:\/\/crates.example.com\/team\/(.*?)</g)].map(
      match => match[1],
    ),
    ['sitemaps/pages.xml', 'sitemaps/0.xml', 'sitemaps/2.xml'],
  )
  assert.equal(pages?.match(/<url>/g)?.length, 6)
  const part = sitemapPart(site, 2, crates)
  assert.equal(part.path, 'sitemaps/2.xml')
  assert.deepEqual(part.bytes.toString().match(/<url>.*<\/url>/g), [
    '<url><loc>https://crates.example.com/team/crates/c0/</loc><lastmod>2026-11-20T12:00:00Z</lastmod></url>',
    '<url><loc>https://crates.example.com/team/crates/c1/</loc></url>',
  ])
})

test('opensearch.xml leads to the search page', () => {
  assert.ok(
    openSearch(site)
      .bytes.toString()
      .includes('template="https://crates.example.com/team/search/?q={searchTerms}"'),
  )
})
