import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  absoluteLink,
  linker,
  relativeLink,
  webLink,
  webLinkText,
} from '../../../site/elements/links.ts'
import { linkBase, resolveLink } from '../../../site/readme/links.ts'
import { demoConfig } from '../../support/demo-config.ts'

const relative: [from: string, to: string, link: string][] = [
  ['index.html', 'index.html', './'],
  ['index.html', 'crates/index.html', 'crates/'],
  ['index.html', '', './'],
  ['crates/a/index.html', 'index.html', '../../'],
  ['crates/a/index.html', '', '../../'],
  ['crates/a/index.html', 'crates/b/index.html', '../b/'],
  ['crates/a/index.html', 'crates/a/1.0.0+x/index.html', '1.0.0+x/'],
  ['crates/a/1.0.0/index.html', 'crates/a/index.html', '../'],
  ['crates/index-a.html', 'crates/index-ab.html', 'index-ab.html'],
  ['me/tokens', 'me', '../me'],
  ['me', 'me/login', 'me/login'],
  ['me/crates/a', 'me/crates/a/yank', 'a/yank'],
  ['crates/a/1/src/index.html', 'crates/a/1/src/x y#.html', 'x%20y%23.html'],
  ['crates/a/1/src/index.html', 'search/', '../../../../search/'],
]
for (const [from, to, link] of relative) {
  test(`a link from ${from} to ${to || 'the root'}`, () => {
    assert.equal(relativeLink(from, to), link)
    const root = 'https://x.example/sub/'
    const meant = new URL(
      to
        .replace(/index\.html$/, '')
        .split('/')
        .map(encodeURIComponent)
        .join('/')
        .replaceAll('%2B', '+'),
      root,
    )
    assert.equal(new URL(link, root + from).href, meant.href)
  })
}

test('absolute and rooted links keep the base path', () => {
  const site = demoConfig('https://x.example/sub')
  assert.equal(absoluteLink(site, 'index.html'), 'https://x.example/sub/')
  assert.equal(linker(site, null)('crates/a/index.html'), '/sub/crates/a/')
})

const web: [text: string | null, url: string | null][] = [
  ['https://a.example', 'https://a.example/'],
  [' http://a.example/b ', 'http://a.example/b'],
  ['javascript:alert(1)', null],
  ['//a.example', null],
  ['not a url', null],
  [null, null],
  [`https://a.example/${'x'.repeat(2000)}`, null],
]
for (const [text, url] of web)
  test(`a web link of ${text?.slice(0, 30)}`, () => assert.equal(webLink(text), url))

test('what links are called', () => {
  assert.equal(webLinkText('https://a.example/'), 'a.example')
  assert.equal(webLinkText('https://a.example/b/?c'), 'a.example/b')
})

const forges: [repository: string, link: string | null][] = [
  ['https://github.com/a/b', 'https://github.com/a/b/blob/HEAD/c/d.md'],
  ['https://github.com/a/b.git', 'https://github.com/a/b/blob/HEAD/c/d.md'],
  ['https://github.com/a/b/tree/main/c', 'https://github.com/a/b/blob/HEAD/c/d.md'],
  ['https://gitlab.com/a/g/b', 'https://gitlab.com/a/g/b/blob/HEAD/c/d.md'],
  ['https://gitlab.com/a/g/b/-/tree/main', 'https://gitlab.com/a/g/b/blob/HEAD/c/d.md'],
  ['https://bitbucket.org/a/b', 'https://bitbucket.org/a/b/blob/HEAD/c/d.md'],
  ['https://gitlab.company.example/a/b', 'https://gitlab.company.example/a/b/blob/HEAD/c/d.md'],
  ['https://codeberg.org/a/b', 'https://codeberg.org/a/b/src/HEAD/c/d.md'],
  ['https://git.sr.ht/~a/b', 'https://git.sr.ht/~a/b/tree/HEAD/item/c/d.md'],
  ['https://git.sr.ht/~a/b/tree/main/item/c', 'https://git.sr.ht/~a/b/tree/HEAD/item/c/d.md'],
  ['https://github.com/a', null],
  ['https://notgithub.com/a/b', null],
  ['https://github.com.evil.example/a/b', null],
  ['javascript:alert(1)', null],
  ['git@github.com:a/b', null],
]
for (const [repository, link] of forges) {
  test(`relative links in ${repository}`, () => {
    const base = linkBase({ repository, vcs_path: 'c', readme_file: 'README.md' })
    assert.equal(base === null ? null : resolveLink(base, 'd.md', 'pages'), link)
  })
}
