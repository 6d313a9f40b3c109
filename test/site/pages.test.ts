import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { cratePage, versionPage } from '../../site/crate/page.ts'
import { assets } from '../../site/layout/assets.ts'
import { frontPage } from '../../site/pages/front.ts'
import { errorPage, notFoundPage } from '../../site/pages/not-found.ts'
import { card, crate, fleet, keel, version } from '../support/demo-facts.ts'
import { demoFacts, demoSite } from '../support/demo-site.ts'
import { hostile } from '../support/hostile.ts'
import { root } from '../support/plimsoll.ts'
import { dependency } from '../support/release.ts'

const site = demoFacts('https://crates.example.com/team')
const GOLDEN = join(root, 'test', 'golden')

const goldens: [name: string, page: () => { bytes: Buffer }][] = [
  [
    'site-front.html',
    () =>
      frontPage(site, {
        crates: 9,
        versions: 17,
        newest: fleet.slice(0, 1).map(crate => card(crate.newest)),
        updated: [card(keel.newest)],
        keywords: [{ slug: 'cli', crates: 1200 }],
        example: 'keel',
      }),
  ],
  ['site-crate.html', () => cratePage(site, keel)],
  ['site-version-hostile.html', () => versionPage(site, hostile.newest)],
]
for (const [name, page] of goldens) {
  test(`golden ${name}`, () => {
    const text = page()
      .bytes.toString()
      .replace(/assets\/[0-9a-f]{12}\//g, 'assets/HASH/')
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(join(GOLDEN, name), text)
    assert.equal(text, readFileSync(join(GOLDEN, name), 'utf8'))
  })
}

test('the same facts give the same files', () => {
  const once = () => [...demoSite(site, [keel, ...fleet, hostile])]
  assert.deepEqual(once(), once())
})

test('every link of the tree leads to a file of the tree, and the page of each file is unique', () => {
  const files = [...demoSite(site, [keel, ...fleet, hostile])]
  const paths = new Set(files.map(file => file.path))
  assert.equal(paths.size, files.length)
  // Made by other hands: the index, the .crate files, the feeds, the pages of the daemon, crates that are only named.
  const elsewhere =
    /^(?:\/team)?\/(index\/.*|api\/openapi\.json|feeds\/\w+\.xml|downloads\.(?:svg|json)|crates\/[\w-]+\/(?:feed\.xml|crate\.json)|me(\/.*)?|users\/.*|crates\/[\w-]+\/(compare\/|[^/]+\/raw\/.*)|crates\/(bindings|insta-lite|toml-edit-fork|winapi-lite|cargo-keel|helm|harbour-tests|evil|other|[\w-]+\/[^/]+\.crate|keel\/1\.3|keel\/1\.[0-2]|keel\/0).*)$/
  const broken = new Set<string>()
  for (const file of files.filter(file => file.path.endsWith('.html'))) {
    const here = new URL(file.path.replace(/index\.html$/, ''), `${site.base}/`)
    for (const [, link = ''] of file.bytes
      .toString()
      .matchAll(/(?:href|src|action)="([^"#][^"]*)"/g)) {
      const url = new URL(link.replaceAll('&#39;', "'").replaceAll('&amp;', '&'), here)
      if (url.origin !== here.origin || elsewhere.test(url.pathname)) continue
      const path = decodeURIComponent(url.pathname.slice('/team/'.length))
      if (
        !url.pathname.startsWith('/team/') ||
        !paths.has(path === '' || path.endsWith('/') ? `${path}index.html` : path)
      )
        broken.add(`${file.path}: ${link}`)
    }
  }
  assert.deepEqual([...broken], [])
})

test('no page has inline script, inline style or a handler', () => {
  for (const { path, bytes } of demoSite(site, [keel, hostile])) {
    if (!path.endsWith('.html')) continue
    const waiting: DefaultTreeAdapterTypes.Node[] = [parse(bytes.toString())]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if ('childNodes' in node) waiting.push(...node.childNodes)
      if (!('tagName' in node)) continue
      assert.notEqual(node.tagName, 'style', path)
      if (node.tagName === 'script') assert.deepEqual(node.childNodes, [], path)
      for (const { name } of node.attrs) assert.doesNotMatch(name, /^(style|on.*)$/, path)
    }
  }
})

/** The bytes of assets by name, and of the scripts' imports before they run. */
function bytesOf(...names: string[]): Buffer {
  const wanted = new Set(names)
  for (const name of wanted)
    for (const [, imported = ''] of textOf(name).matchAll(/(?:from|import)"\.\/([^"]+)"/g))
      wanted.add(posix.join(posix.dirname(name), imported))
  return Buffer.from([...wanted].map(textOf).join(''))
}

function textOf(name: string): string {
  return assets.find(file => file.path.endsWith(`/${name}`))?.bytes.toString() ?? assert.fail(name)
}

test('scripts and styles of ordinary pages are under 39 KB', () => {
  const sum = bytesOf('style.css', 'code.css', 'browser/page.js', 'browser/search.js').length
  assert.ok(sum < 39_000, `${sum} bytes`)
  for (const { path } of assets)
    assert.match(path, /^assets\/[0-9a-f]{12}\/[a-z/]+[\w-]*\.(css|js|svg|ico|png)$/)
})

test('what shows the first file of a package is under 32 KB, compressed', () => {
  const names = assets.map(({ path }) => path.split('/').slice(2).join('/'))
  const rust = names.find(name => /\/rust-/.test(name)) ?? ''
  const scripts = ['page', 'archive', 'render'].map(name => `browser/sources/${name}.js`)
  const sum = gzipSync(bytesOf('sources.css', ...scripts, rust)).length
  assert.ok(sum < 32_000, `${sum} bytes`)
  // All grammars, and the Markdown renderer: loaded only for files that need them.
  const all = gzipSync(bytesOf(...names.filter(name => name.startsWith('browser/sources/')))).length
  assert.ok(all < 180_000, `${all} bytes`)
})

test('a page that is answered anywhere links from the root', () => {
  const body = notFoundPage(site).bytes.toString()
  assert.match(body, /href="\/team\/crates\/"/)
  assert.doesNotMatch(body, /href="(\.\.?\/|crates)/)
})

test('an operator brands the site', () => {
  const branded = demoFacts('https://x.example', {
    logo: 'own/logo.svg',
    stylesheet: '/own/style.css',
    links: [{ text: 'Help', url: 'https://help.example' }],
    footer: 'Ours.',
    private: true,
    api: false,
  })
  const body = frontPage(branded, {
    crates: 0,
    versions: 0,
    newest: [],
    updated: [],
    keywords: [],
    example: null,
  }).bytes.toString()
  for (const part of [
    'src="own/logo.svg"',
    '<link rel="stylesheet" href="own/style.css">',
    '<a href="https://help.example">Help</a>',
    '<p>Ours.</p>',
    'content="noindex"',
    'No crates yet',
  ])
    assert.ok(body.includes(part), part)
  assert.doesNotMatch(body, />Account<|cargo publish/)
})

test('the page of a crate counts and names the features that Cargo makes of optional dependencies', () => {
  const body = cratePage(
    site,
    crate(version({ deps: [dependency('serde', '^1', { optional: true })] })),
  ).bytes
  assert.match(body.toString(), /Features <span class="amount">1<\/span>/)
  assert.match(body.toString(), /<li id="feature-serde">/)
})

test('install lines fit what the crate is', () => {
  const lines = (more: Parameters<typeof version>[0], pinned: boolean) => {
    const page = version({ name: 'x', version: '1.2.3+b', ...more })
    const body = (pinned ? versionPage(site, page) : cratePage(site, crate(page))).bytes.toString()
    const [install = ''] = /<section class="install">.*?<\/section>/s.exec(body) ?? []
    return [...install.matchAll(/<pre><code>(.*?)<\/code>/g)].map(match =>
      match[1]?.replaceAll(/<\/?span>/g, '').replaceAll('&quot;', '"'),
    )
  }
  assert.deepEqual(lines({}, false), [
    'cargo add x --registry harbour',
    'x = { version = "1.2.3", registry = "harbour" }',
  ])
  assert.deepEqual(lines({}, true), [
    'cargo add x@=1.2.3+b --registry harbour',
    'x = { version = "=1.2.3", registry = "harbour" }',
  ])
  assert.deepEqual(lines({ bin_names: ['x'], has_lib: false }, true), [
    'cargo install x --version 1.2.3+b --registry harbour',
  ])
  // `cargo install` takes no pre-release by itself, and no command takes a yanked version.
  assert.deepEqual(lines({ bin_names: ['x'], has_lib: false, version: '1.0.0-rc.1' }, false), [
    'cargo install x --version 1.0.0-rc.1 --registry harbour',
  ])
  assert.deepEqual(lines({ bin_names: ['x'], has_lib: false, version: '1.0.0+a-b' }, false), [
    'cargo install x --registry harbour',
  ])
  for (const pinned of [false, true]) assert.deepEqual(lines({ yanked: true }, pinned), [])
})

test('empty parts have no tab but the one that old versions lead to, and a crate without owners says who manages it', () => {
  const page = (config: Parameters<typeof demoFacts>[1]) =>
    cratePage(demoFacts('https://x.example', config), crate(version())).bytes.toString()
  const tabs = [...page({}).matchAll(/<a href="#(\w+)">/g)].map(match => match[1])
  assert.deepEqual(tabs, ['readme', 'versions', 'dependents'])
  assert.match(page({}), /id="dependents".*No crate here depends on keel\./s)
  assert.match(page({}), /<h2>Owners<\/h2><p class="quiet">None. The administrators/)
  for (const config of [{ api: false }, { owners: false }])
    assert.doesNotMatch(page(config), /<h2>Owners/)
})

test('keywords, categories and owners of a crate have pages; those of a version have a search', () => {
  const links = (page: { bytes: Buffer }) =>
    [
      ...page.bytes
        .toString()
        .matchAll(/href="([./]*(?:search|keywords|categories|users)\/[^"]+)"/g),
    ]
      .map(([, link]) => link)
      .filter(link => /cli|command-line|ada/.test(link ?? ''))
  assert.deepEqual(links(cratePage(site, keel)), [
    '../../keywords/cli/',
    '../../categories/command-line-interface/',
    '../../users/ada/',
  ])
  const searches = ['search/?keyword=cli', 'search/?category=command-line-interface']
  const up = (steps: string) => searches.map(search => steps + search)
  assert.deepEqual(links(versionPage(site, keel.newest)), up('../../../'))
  const odd = version({ keywords: ['two words cli', ...Array(40).fill('cli')] })
  assert.ok(links(cratePage(site, crate(odd))).every(link => link?.includes('search/?keyword=')))
  const yanked = { ...keel.newest, yanked: true }
  assert.deepEqual(links(cratePage(site, crate(yanked))), up('../../'))
})

test('what a message has between backticks is code, and nothing in it is markup', () => {
  const text = (message: string) =>
    errorPage(site, 'Not done', message).match(/<p class="lead">(.*)<\/p>/)?.[1]
  assert.equal(text('no `<b>` here'), 'no <code>&lt;b&gt;</code> here')
  assert.equal(text('a lone ` stays'), 'a lone ` stays')
})
