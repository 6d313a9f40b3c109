import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linker } from '../../../site/elements/links.ts'
import {
  IMAGE_BYTES_MAX,
  IMAGES_MAX,
  type ImageCopies,
  placeImages,
} from '../../../site/readme/images.ts'
import { renderWithImages } from '../../../site/readme/readme.ts'
import { demoFacts } from '../../support/demo-site.ts'

const about = { readme_file: 'docs/README.md', repository: 'https://github.com/a/b' }

const copy = (path: string, bytes = 1) => ({ path: `images/${path}`, width: 4, height: 2, bytes })

function render(text: string, copies: ImageCopies, images: 'copy' | 'link' = 'copy') {
  const { html, images: keys } = renderWithImages({ text, about, images, copies })
  return { html: html.replace(/^<div class="readme">|<\/div>$/g, '').trim(), keys }
}

const HOW = 'loading="lazy" referrerpolicy="no-referrer"'

test('a copy is shown in its place, with its size where the author names none', () => {
  const copies = new Map([['https://i.example/a.png', copy('a')]])
  const { html } = render('![x](https://i.example/a.png)', copies)
  assert.equal(html, `<p><img width="4" height="2" src="images/a" alt="x" ${HOW}></p>`)
  const sized = render('<img src="https://i.example/a.png" height="9" alt="x">', copies)
  assert.equal(sized.html, `<img height="9" src="images/a" alt="x" ${HOW}>`)
  const picture = render(
    '<picture><source srcset="https://i.example/a.png 2x"><img src="n"></picture>',
    copies,
  )
  assert.match(picture.html, /<source srcset="images\/a">/)
  const badge = render(
    '![x](https://img.shields.io/b)',
    new Map([['https://img.shields.io/b', copy('b')]]),
  )
  assert.match(badge.html, /<img /)
})

test('an image of the package comes before its address in the repository', () => {
  const text = '![x](./img/a%20b.png?raw=true#c) ![y](/top.png) ![z](../../out.png)'
  const first = render(text, new Map())
  assert.deepEqual(first.keys, [
    './docs/img/a b.png',
    'https://github.com/a/b/raw/HEAD/docs/img/a%20b.png?raw=true#c',
    './top.png',
    'https://github.com/a/b/raw/HEAD/top.png',
  ])
  const there = render(text, new Map([['./docs/img/a b.png', copy('a')]]))
  assert.match(there.html, /<img [^>]*src="images\/a"/)
  assert.ok(!there.keys.includes('https://github.com/a/b/raw/HEAD/docs/img/a%20b.png?raw=true#c'))
  assert.deepEqual(render(text, new Map(), 'link').keys, ['./docs/img/a b.png', './top.png'])
})

test('odd links name no file of the package', () => {
  for (const link of ['..', 'a%2Fb.png', '%00', '%zz', 'c:/x', '//x/y', '\\\\x', '', 'https:x'])
    assert.deepEqual(render(`<img src="${link}">`, new Map(), 'link').keys, [], link)
})

test('more images than one README may have, in number or together, stay links', () => {
  const urls = Array.from({ length: IMAGES_MAX + 5 }, (_, at) => `https://i.example/${at}.png`)
  const text = urls.map((url, at) => `![n${at}](${url})`).join('\n')
  const all = new Map(urls.map((url, at) => [url, copy(String(at))]))
  const many = render(text, all)
  assert.equal(many.keys.length, IMAGES_MAX)
  assert.equal(many.html.match(/<img /g)?.length, IMAGES_MAX)
  const large = new Map(urls.map((url, at) => [url, copy(String(at), IMAGE_BYTES_MAX / 4)]))
  const twice = render(`${text}\n\n![again](${urls[0]})`, large).html
  assert.deepEqual(twice.match(/(?<=<img .*alt=")\w+/g), ['n0', 'n1', 'n2', 'n3', 'again'])
})

test('only the addresses of images are made relative to the page', () => {
  const copies = new Map([['https://i.example/a.png', copy('a')]])
  const text =
    '![src="images/](https://i.example/a.png) ` src="images/x"` <b title=\' src="images/y\'>z</b>'
  const { html } = render(text, copies)
  const to = linker(demoFacts('https://x.example/$&'), 'crates/keel/index.html')
  const placed = placeImages(html, to)
  assert.equal(placed.split('../../images/').length, 2)
  assert.equal(placed.replace('../../images/', 'images/'), html)
  const root = placeImages(html, linker(demoFacts('https://x.example/$&'), null))
  assert.match(root, / src="\/\$&amp;\/images\/a"/)
})
