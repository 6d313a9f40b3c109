import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cratePage, versionPage } from '../../../site/crate/page.ts'
import { latestPage, versionsPage } from '../../../site/crate/versions.ts'
import { crate, demoConfig, version } from '../../support/demo-config.ts'

const site = demoConfig('https://x.example/team')
const newest = version({ version: '1.0.999' })

/** The page of a crate with this many versions, as its generator gives it to the views. */
function many(count: number) {
  const versions = Array.from({ length: Math.min(count, 1000) }, (_, at) =>
    version({ version: `1.0.${999 - at}` }),
  )
  return crate(newest, { versions, versionCount: count })
}

test('a crate with very many versions has a small page with the newest, and one with more', () => {
  const data = many(12_345)
  const page = cratePage(site, data).bytes.toString()
  assert.ok(page.length < 60_000, `${page.length} bytes`)
  assert.equal(page.match(/<tr><th scope="row">/g)?.length, 100)
  assert.match(page, /data-all="versions\/"/)
  assert.match(page, /href="versions\/">Show the newest 1,000 of 12,345 versions/)
  const all = versionsPage(site, data).bytes.toString()
  assert.equal(all.match(/<tr><th scope="row">/g)?.length, 1000)
  assert.match(all, /href="\.\.\/1\.0\.0\/">1\.0\.0</)
  assert.match(all, /12,345 versions; the page shows the newest 1,000, .*crate\.json/)
})

test('the page of a version names no later one', () => {
  const previous = version({ version: '1.3.0' })
  const page = versionPage(site, version({ version: '1.4.0', previous })).bytes.toString()
  const [, selector = ''] = /<details class="selector"(.*?)<\/details>/s.exec(page) ?? []
  assert.match(selector, /data-from="\.\.\/"/)
  assert.deepEqual(selector.match(/href="[^"]*"/g), [
    'href="../"',
    'href="../1.3.0/"',
    'href="../#versions"',
  ])
})

test('the permanent address of the newest version leads to the crate without a script', () => {
  const page = latestPage(site, 'keel')
  assert.equal(page.path, 'crates/keel/latest/index.html')
  const text = page.bytes.toString()
  assert.match(text, /content="0; url=\.\.\/"/)
  assert.match(text, /rel="canonical" href="https:\/\/x\.example\/team\/crates\/keel\/"/)
})

test('the table says what changed: a link, another license, new and dropped features', () => {
  const about = { license: 'MIT', license_file: null }
  const versions = [
    { ...version({ version: '2.0.0' }), ...about, features: { a: [], b: [], c: [], d: [], e: [] } },
    { ...version({ version: '1.1.0' }), ...about, license: 'Apache-2.0', features: { std: [] } },
    { ...version({ version: '1.0.0' }), ...about, features: null },
  ]
  const text = cratePage(site, crate(newest, { versions, versionCount: 3 })).bytes.toString()
  const cells = [...text.matchAll(/<td class="what">(.*?)<\/td>/g)].map(([, cell = '']) =>
    cell.replaceAll(/<[^>]*>/g, ''),
  )
  assert.deepEqual(cells, [
    'Changes license MIT · +a +b +c and 2 more · −std',
    'Changes license Apache-2.0',
    '',
  ])
})
