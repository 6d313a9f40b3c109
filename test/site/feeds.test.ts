import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crateFeed, openSearch, registryFeed, robots, sitemaps } from '../../site/index.ts'
import { demoFacts } from '../support/demo-site.ts'

const site = demoFacts('https://crates.example.com/team')

test('the feed of the registry', () => {
  const { path, body } = registryFeed(site, [
    {
      name: 'keel',
      version: '1.0.0+b',
      description: 'a <b> & \u0007c',
      published: '2026-11-20T12:00:00Z',
      publisher: 'ada',
    },
    { name: 'old', version: '0.1.0', description: null, published: null, publisher: null },
  ])
  assert.equal(path, 'feeds/updates.xml')
  assert.equal(
    body,
    `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>https://crates.example.com/team/feeds/updates.xml</id>
<title>Harbour Crates</title>
<updated>2026-11-20T12:00:00Z</updated>
<author><name>Harbour Crates</name></author>
<link rel="self" type="application/atom+xml" href="https://crates.example.com/team/feeds/updates.xml"/>
<link rel="alternate" type="text/html" href="https://crates.example.com/team/"/>
<entry>
<id>https://crates.example.com/team/crates/keel/1.0.0+b/</id>
<title>keel 1.0.0+b</title>
<updated>2026-11-20T12:00:00Z</updated>
<author><name>ada</name></author>
<link rel="alternate" type="text/html" href="https://crates.example.com/team/crates/keel/1.0.0+b/"/>
<summary>a &lt;b&gt; &amp; c</summary>
</entry>
<entry>
<id>https://crates.example.com/team/crates/old/0.1.0/</id>
<title>old 0.1.0</title>
<updated>1970-01-01T00:00:00Z</updated>

<link rel="alternate" type="text/html" href="https://crates.example.com/team/crates/old/0.1.0/"/>
<summary>Version 0.1.0 of old.</summary>
</entry>
</feed>
`,
  )
  assert.equal(crateFeed(site, 'keel', []).path, 'crates/keel/feed.xml')
})

test('robots.txt asks for what it should', () => {
  assert.equal(
    robots(site).body,
    'User-agent: *\nDisallow: /team/me\nDisallow: /team/search/\nDisallow: /team/crates/*/*/src/\nSitemap: https://crates.example.com/team/sitemap.xml\n',
  )
  assert.equal(robots({ ...site, private: true }).body, 'User-agent: *\nDisallow: /\n')
})

test('the site map is split, and has every crate once', () => {
  const crates = Array.from({ length: 30_000 }, (_, at) => ({
    name: `c${at}`,
    updated: at % 2 === 0 ? '2026-11-20T12:00:00Z' : null,
  }))
  const [index, ...parts] = sitemaps(site, crates)
  assert.ok(index?.body.toString().includes(`<loc>https://crates.example.com/team/${parts[1]?.path}</loc>`))
  const counts = parts.map(part => part.body.toString().match(/<url>/g)?.length ?? 0)
  assert.ok(
    counts.every(count => count > 0 && count <= 50_000),
    `${counts}`,
  )
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    30_000 + 2,
  )
})

test('opensearch.xml leads to the search page', () => {
  assert.ok(
    openSearch(site).body.toString().includes('template="https://crates.example.com/team/search/?q={searchTerms}"'),
  )
})
