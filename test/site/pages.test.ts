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
import { card, crate, demoConfig, keel, version } from '../support/demo-config.ts'
import { filesBelow } from '../support/folder.ts'
import { harbour, writeCrates } from '../support/harbour.ts'
import { hostile } from '../support/hostile.ts'
import { plimsoll, root } from '../support/plimsoll.ts'
import { BASE, dependency } from '../support/release.ts'
import { folderOf } from '../support/workplace.ts'

const site = demoConfig('https://crates.example.com/team')
const rudder = version({
  name: 'rudder',
  version: '0.1.0',
  description: 'Steering for state machines: typed transitions without macros.',
  publishedAt: '2026-11-20T08:00:00Z',
})
const GOLDEN = join(root, 'test', 'golden')

const goldens: [name: string, page: () => { bytes: Buffer }][] = [
  [
    'site-front.html',
    () =>
      frontPage(site, {
        crates: 9,
        versions: 17,
        newest: [card(rudder)],
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

test('every link of a static tree leads to a file of it; no page has inline script, style or a handler', async t => {
  const folder = folderOf(t)
  const [from, out] = [join(folder, 'from'), join(folder, 'out')]
  writeCrates(from, harbour(`sparse+${BASE}/team/index/`), `${BASE}/team`)
  const built = await plimsoll(folder, ['build', '--from', from, '--out', out])
  assert.equal(built.code, 0, built.stderr)
  const paths = filesBelow(out)
  const files = new Set(paths)
  const broken: string[] = []
  for (const path of paths.filter(path => path.endsWith('.html'))) {
    const here = new URL(path.replace(/index\.html$/, ''), `${BASE}/team/`)
    const text = readFileSync(join(out, path), 'utf8')
    assertNothingInline(text, path)
    for (const [, link = ''] of text.matchAll(/(?:href|src|action)="([^"#][^"]*)"/g)) {
      const url = new URL(link.replaceAll('&#39;', "'").replaceAll('&amp;', '&'), here)
      if (url.origin !== here.origin) continue
      const there = decodeURIComponent(url.pathname).slice('/team/'.length)
      const file = url.pathname.endsWith('/') ? `${there}index.html` : there
      if (!url.pathname.startsWith('/team/') || !files.has(file)) broken.push(`${path}: ${link}`)
    }
  }
  assert.deepEqual(broken, [])
})

function assertNothingInline(text: string, path: string): void {
  const waiting: DefaultTreeAdapterTypes.Node[] = [parse(text)]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('childNodes' in node) waiting.push(...node.childNodes)
    if (!('tagName' in node)) continue
    assert.notEqual(node.tagName, 'style', path)
    if (node.tagName === 'script') assert.deepEqual(node.childNodes, [], path)
    for (const { name } of node.attrs) assert.doesNotMatch(name, /^(style|on.*)$/, path)
  }
}

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
  const branded = demoConfig('https://x.example', {
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
    'cargo add x@=1.2.3 --registry harbour',
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
  const page = (config: Parameters<typeof demoConfig>[1], shown = version()) =>
    cratePage(demoConfig('https://x.example', config), crate(shown)).bytes.toString()
  const tabs = [...page({}).matchAll(/<a href="#(\w+)">/g)].map(match => match[1])
  assert.deepEqual(tabs, ['readme', 'versions', 'dependents'])
  assert.match(page({}), /This version has no README\./)
  const large = page({}, version({ readme_file: 'docs/README.md' }))
  assert.match(large, /<code>docs\/README\.md<\/code> is too large to be shown here\./)
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
  const publisher = 'search/?owner=ada'
  assert.deepEqual(links(cratePage(site, keel)), [
    ...Array(4).fill(`../../${publisher}`),
    '../../keywords/cli/',
    '../../categories/command-line-interface/',
    '../../users/ada/',
  ])
  const searches = [publisher, 'search/?keyword=cli', 'search/?category=command-line-interface']
  const up = (steps: string) => searches.map(search => steps + search)
  assert.deepEqual(links(versionPage(site, keel.newest)), up('../../../'))
  const odd = version({ keywords: ['two words cli', ...Array(40).fill('cli')] })
  assert.ok(
    links(cratePage(site, crate(odd))).every(link =>
      /search\/\?(?:keyword|owner)=/.test(link ?? ''),
    ),
  )
  const yanked = { ...keel.newest, yanked: true }
  const own = `../../${publisher}`
  assert.deepEqual(links(cratePage(site, crate(yanked))), [own, ...up('../../')])
})

test('what a message has between backticks is code, and nothing in it is markup', () => {
  const text = (message: string) =>
    errorPage(site, 'Not done', message).match(/<p class="lead">(.*)<\/p>/)?.[1]
  assert.equal(text('no `<b>` here'), 'no <code>&lt;b&gt;</code> here')
  assert.equal(text('a lone ` stays'), 'a lone ` stays')
})
