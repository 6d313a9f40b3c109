import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooComplexError } from '../../../site/readme/bounded-tree.ts'
import { cleanSvg, looksLikeSvg } from '../../../site/readme/svg.ts'
import { frugally } from '../../support/processor-time.ts'

const clean = (inside: string, root = '<svg>') =>
  cleanSvg(`${root}${inside}</svg>`)?.svg.replace(/^<svg xmlns="[^"]+">|<\/svg>$/g, '')

const KEPT = [
  '<path d="M0 0h1" fill="url(#a)"></path>',
  '<g style="fill:url(#a);stroke: #fff"></g>',
  '<g style="fill: red"><circle r="1"></circle></g>',
  '<linearGradient id="a" gradientUnits="userSpaceOnUse"><stop offset="1"></stop></linearGradient>',
  '<g clip-path="url(#c)"><clipPath id="c"><path d="M0 0"></path></clipPath></g>',
  '<text x="1">a &lt;b&gt; &amp; c</text>',
  '<animate attributeName="opacity" values="0;1" dur="1s"></animate>',
  '<title>A &lt;b&gt; title</title>',
]

test('a drawing stays what it is', () => {
  for (const inside of KEPT) assert.equal(clean(inside), inside)
})

const CIRCLE = '<circle r="1"></circle>'

const HOSTILE: [given: string, left: string][] = [
  ['<script>alert(1)</script><circle r="1"/>', CIRCLE],
  ['<script href="x.js"/><circle onload="x()" r="1"/>', CIRCLE],
  ['<foreignObject><iframe src="x"></iframe></foreignObject>', ''],
  ['<image href="https://x.example/a.png"/><feImage href="#a"/>', ''],
  ['<a href="javascript:x()"><circle r="1"/></a>', CIRCLE],
  ['<set attributeName="href" to="javascript:x()"/>', ''],
  [
    '<animate attributeName="fill" to="url(https://x.example)"/>',
    '<animate attributeName="fill"></animate>',
  ],
  [
    '<g style="background: url(//x.example)" fill="url( \'#a\' )"/>',
    '<g fill="url( \'#a\' )"></g>',
  ],
  ['<g fill="u\\72l(https://x.example)" stroke="URL(//x.example)"/>', '<g></g>'],
  ['<g fill="image-set(\'https://x.example/a\' 1x)" style="--a: 1"/>', '<g></g>'],
  ['<g fill="url(https://x.example/#a)"/>', '<g></g>'],
  ['<g fill="u&#1;rl(//x.example)" style="fill: ur\ufffel(//x.example)"/>', '<g></g>'],
  ['<p>out</p><circle r="1"/>', ''],
  ['<svg:script>x</svg:script>', ''],
  ['<math><mi>x</mi></math>', ''],
  ['<handler type="x">y</handler><discard/>', ''],
  ['<title><script>x()</script></title>', '<title></title>'],
  ['<text>\u0000\u0001\ud800</text>', '<text>\ufffd</text>'],
]

test('nothing that runs or loads is left', () => {
  for (const [source, left] of HOSTILE) assert.equal(clean(source), left, source)
})

test('a drawing whose parts are drawn by reference is not shown', () => {
  for (const inside of [
    '<g id="a"/><use href="#a"/>',
    '<symbol id="a"/>',
    '<pattern id="a"/>',
    '<mask id="a"/>',
    '<marker id="a"/>',
    '<filter id="a"/>',
    '<g><style>.a { fill: red }</style></g>',
    '<a><text><textPath href="#a">x</textPath></text></a>',
  ])
    assert.equal(clean(inside), undefined, inside)
})

test('clips do not clip each other, so that none is drawn more often than it is named', () => {
  const inside = '<clipPath id="a" clip-path="url(#b)"><g clip-path="url(#b)"/></clipPath>'
  assert.equal(clean(inside), '<clipPath id="a"><g></g></clipPath>')
})

test('entities of a document type are no bomb', () => {
  const source = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
    <svg width="20" height="10px" viewBox="0 0 2 1"><text>&b;</text></svg>`
  assert.ok(looksLikeSvg(source))
  const { svg, ...size } = cleanSvg(source) ?? assert.fail('no drawing')
  assert.match(svg, /<text>&amp;b;<\/text>/)
  assert.deepEqual(size, { width: 20, height: 10 })
})

test('the size of a drawing is that of its view where it names no other in pixels', () => {
  const size = (root: string) => {
    const { width, height } = cleanSvg(`${root}</svg>`) ?? assert.fail(root)
    return [width, height]
  }
  assert.deepEqual(size('<svg viewBox="0 0 30 15.4">'), [30, 15])
  assert.deepEqual(size('<svg width="100%" height="2em" viewBox="0,0,3,4">'), [3, 4])
  assert.deepEqual(size('<svg width="-1">'), [null, null])
})

test('a drawing that is too large is refused or not shown, and a deep one is cut', () => {
  assert.equal(cleanSvg(`<svg>${'<g/>'.repeat(70_000)}</svg>`), null)
  assert.throws(() => cleanSvg(`<svg>${'<g>'.repeat(5000)}`), TooComplexError)
  assert.equal(cleanSvg(`<svg>${'<g>'.repeat(300)}`)?.svg.match(/<g/g)?.length, 100)
})

test('every text is read in little time', () => {
  for (const text of ['<g fill="url(', '<g style="', 'url(', '(', '<!--', '<a><b><i>', '&amp;'])
    frugally(() => {
      try {
        clean(text.repeat(200_000 / text.length))
      } catch (error) {
        assert.ok(error instanceof TooComplexError)
      }
    }, text)
})

test('other texts are no drawings', () => {
  for (const text of ['<html><svg></svg>', 'text <svg>', '', '<?xml?><rss/>', '<svgx>'])
    assert.equal(looksLikeSvg(text), false, text)
  assert.equal(cleanSvg('<!-- <svg> -->'), null)
})
