import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  IMAGE_BYTES_MAX,
  IMAGES_MAX,
  type PackagedImages,
  placeFiles,
} from '../../../site/readme/images.ts'
import { renderReadme } from '../../../site/readme/readme.ts'

const about = { readme_file: 'docs/README.md', repository: 'https://github.com/a/b' }

const image = (name: string, bytes = 1) => ({ src: `images/${name}`, width: 4, height: 2, bytes })

function render(text: string, packaged: PackagedImages = new Map()) {
  const { html, images: files } = renderReadme({ text, about, images: 'link', packaged })
  return { html: html.replace(/^<div class="readme">|<\/div>$/g, '').trim(), files }
}

const HOW = 'loading="lazy" referrerpolicy="no-referrer"'

test('an image of the package is shown, with its size where the author names none', () => {
  const packaged = new Map([['docs/a.png', image('a')]])
  const { html } = render('![x](a.png)', packaged)
  assert.equal(html, `<p><img width="4" height="2" src="images/a" alt="x" ${HOW}></p>`)
  const sized = render('<img src="./a.png" height="9" alt="x">', packaged)
  assert.equal(sized.html, `<img height="9" src="images/a" alt="x" ${HOW}>`)
  const picture = render('<picture><source srcset="a.png 2x"><img src="n"></picture>', packaged)
  assert.match(picture.html, /<source srcset="images\/a">/)
})

test('links name files of the package as Cargo unpacks it', () => {
  const text =
    '![x](./img/a%20b.png?raw=true#c) ![y](/top.png) ![z](../../out.png) ![u](https://x/y)'
  assert.deepEqual(render(text).files, ['docs/img/a b.png', 'top.png'])
  for (const link of ['..', 'a%2Fb.png', '%00', '%zz', 'c:/x', '//x/y', '\\\\x', '', 'https:x'])
    assert.deepEqual(render(`<img src="${link}">`).files, [], link)
})

test('more images than one README may have, in number or together, stay links', () => {
  const names = Array.from({ length: IMAGES_MAX + 5 }, (_, at) => `${at}.png`)
  const text = names.map((name, at) => `![n${at}](${name})`).join('\n')
  const all = new Map(names.map(name => [`docs/${name}`, image(name)]))
  const many = render(text, all)
  assert.equal(many.files.length, IMAGES_MAX)
  assert.equal(many.html.match(/<img /g)?.length, IMAGES_MAX)
  const large = new Map(names.map(name => [`docs/${name}`, image(name, IMAGE_BYTES_MAX / 4)]))
  const twice = render(`${text}\n\n![again](${names[0]})`, large).html
  assert.deepEqual(twice.match(/(?<=<img .*alt=")\w+/g), ['n0', 'n1', 'n2', 'n3', 'again'])
})

test('only the addresses of images are made relative to the page', () => {
  const text = '![src="images/](a.png) ` src="images/x"` <b title=\' src="images/y\'>z</b>'
  const { html } = render(text, new Map([['docs/a.png', image('a')]]))
  const placed = placeFiles(html, '1.0.0/')
  assert.equal(placed.split('1.0.0/images/').length, 2)
  assert.equal(placed.replace('1.0.0/images/', 'images/'), html)
  assert.match(placeFiles(html, '/$&/'), / src="\/\$&amp;\/images\/a"/)
})
