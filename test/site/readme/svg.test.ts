import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooComplexError } from '../../../site/readme/bounded-tree.ts'
import { cleanSvg, looksLikeSvg } from '../../../site/readme/svg.ts'

const clean = (inside: string, root = '<svg>') =>
  cleanSvg(`${root}${inside}</svg>`)?.svg.replace(/^<svg xmlns="[^"]+"\/?>|<\/svg>$/g, '')

const KEPT = [
  '<path d="M0 0h1" fill="url(#a)"/>',
  '<g style="fill: url(&quot;#a&quot;)"><circle r="1"/></g>',
  '<style>.a { fill: red } @media (prefers-color-scheme: dark) { .a { fill: blue } }</style>',
  '<linearGradient id="a" gradientUnits="userSpaceOnUse"><stop offset="1"/></linearGradient>',
  '<text x="1">a &lt;b&gt; &amp; c</text>',
  '<use href="#a"/>',
  '<animate attributeName="opacity" values="0;1" dur="1s"/>',
  '<title>A &lt;b&gt; title</title>',
]

test('a drawing stays what it is', () => {
  for (const inside of KEPT) assert.equal(clean(inside), inside)
})

const HOSTILE: [given: string, left: string][] = [
  ['<script>alert(1)</script><circle r="1"/>', '<circle r="1"/>'],
  ['<script href="x.js"/><circle onload="x()" r="1"/>', '<circle r="1"/>'],
  ['<foreignObject><iframe src="x"></iframe></foreignObject>', ''],
  ['<image href="https://x.example/a.png"/><feImage href="#a"/>', ''],
  ['<a href="javascript:x()"><circle r="1"/></a>', '<circle r="1"/>'],
  ['<use href="https://x.example/a.svg#b"/><use xlink:href="data:x"/>', '<use/><use/>'],
  ['<set attributeName="href" to="javascript:x()"/>', ''],
  ['<animate attributeName="xlink:href" values="javascript:x()"/>', ''],
  [
    '<animate attributeName="fill" to="url(https://x.example)"/>',
    '<animate attributeName="fill"/>',
  ],
  ['<style>@import "https://x.example/a.css";</style>', ''],
  ['<style>@font-face { src: url(https://x.example/a) }</style>', ''],
  ['<style>.a { fill: u\\72l(https://x.example) }</style>', ''],
  ['<style>.a { background: image-set("https://x.example/a" 1x) }</style>', ''],
  ['<style>.a { background: -webkit-image-set("https://x.example/a" 1x) }</style>', ''],
  ['<style>.a { fill: URL( https://x.example ) }</style>', ''],
  ['<g style="background: url(//x.example)" fill="url( \'#a\' )"/>', '<g fill="url( \'#a\' )"/>'],
  ['<style><![CDATA[ .a { fill: red } ]]></style>', '<style> .a { fill: red } </style>'],
  ['<p>out</p><circle r="1"/>', ''],
  ['<svg:script>x</svg:script>', ''],
  ['<math><mi>x</mi></math>', ''],
  ['<handler type="x">y</handler><discard/>', ''],
  ['<title><script>x()</script></title>', '<title></title>'],
  ['<text>\u0000\u0001\ud800</text>', '<text>\ufffd</text>'],
]

test('nothing that runs or loads is left', () => {
  for (const [given, left] of HOSTILE) {
    const svg = clean(given)
    assert.equal(svg, left, given)
  }
})

test('entities of a document type are no bomb', () => {
  const given = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
    <svg width="20" height="10px" viewBox="0 0 2 1"><text>&b;</text></svg>`
  assert.ok(looksLikeSvg(given))
  const { svg, ...size } = cleanSvg(given) ?? assert.fail('no drawing')
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

test('a drawing that is too large is refused, and a deep one is cut', () => {
  assert.throws(() => cleanSvg(`<svg>${'<g/>'.repeat(300_000)}</svg>`), TooComplexError)
  assert.throws(() => cleanSvg(`<svg>${'<g>'.repeat(5000)}`), TooComplexError)
  assert.equal(cleanSvg(`<svg>${'<g>'.repeat(300)}`)?.svg.match(/<g/g)?.length, 100)
})

const LEVELS = Array.from({ length: 9 }, (_, level) => level + 1)

/** Drawings in which each of nine levels draws the one below ten times. */
const BOMBS: Readonly<Record<string, string>> = {
  use: LEVELS.map(at => `<g id="a${at}">${`<use href="#a${at - 1}"/>`.repeat(10)}</g>`).join(''),
  'xlink:href': LEVELS.map(
    at => `<g id="a${at}">${`<use xlink:href="#a${at - 1}"/>`.repeat(10)}</g>`,
  ).join(''),
  fill: LEVELS.map(
    at => `<pattern id="a${at}">${`<path fill="url(#a${at - 1})"/>`.repeat(10)}</pattern>`,
  ).join(''),
  'an inherited fill': LEVELS.map(
    at =>
      `<pattern id="a${at}"><g style="opacity: 1; Fill: url('#a${at - 1}')">${'<path/>'.repeat(10)}</g></pattern>`,
  ).join(''),
  mask: LEVELS.map(
    at => `<mask id="a${at}">${`<path mask="url( #a${at - 1} )"/>`.repeat(10)}</mask>`,
  ).join(''),
  'a style sheet': LEVELS.map(
    at =>
      `<style>.a${at} { mask: url(#a${at - 1}) }</style><mask id="a${at}">${`<path class="a${at}"/>`.repeat(10)}</mask>`,
  ).join(''),
  'a variable': LEVELS.map(
    at =>
      `<pattern id="a${at}"><g style="--a: url(#a${at - 1})">${'<path style="fill: var(--a)"/>'.repeat(10)}</g></pattern>`,
  ).join(''),
  'a comment': LEVELS.map(
    at =>
      `<pattern id="a${at}"><g style="fill/* ; */: url(#a${at - 1})">${'<path/>'.repeat(10)}</g></pattern>`,
  ).join(''),
  'an animation': LEVELS.map(
    at =>
      `<pattern id="a${at}"><g>${'<path/>'.repeat(10)}<animate attributeName="fill" values="url(#a${at - 1})"/></g></pattern>`,
  ).join(''),
  'a long chain': `${Array.from(
    { length: 20_000 },
    (_, at) => `<g id="b${at + 1}"><use href="#b${at}"/></g>`,
  )
    .reverse()
    .join('')}<g id="a9"/>`,
  itself: '<g id="a9"><use href="#a9"/></g>',
}

test('a small drawing cannot draw its parts a million times', () => {
  for (const [what, levels] of Object.entries(BOMBS)) {
    const bomb = `<svg><g id="a0"><path/></g>${levels}<path fill="url(#a9)"/></svg>`
    assert.throws(() => cleanSvg(bomb), /^Error: it draws too many elements$/, what)
  }
})

test('references of a usual number are no matter', () => {
  const uses = (count: number) =>
    `<g id="a">${'<path/>'.repeat(100)}</g>${'<use href="#a"/>'.repeat(count)}`
  assert.ok(clean(uses(9000)))
  assert.throws(() => cleanSvg(`<svg>${uses(11_000)}</svg>`), TooComplexError)
  const clips = Array.from(
    { length: 40 },
    (_, i) =>
      `<clipPath id="c${i}"><path class="p"/></clipPath><linearGradient id="l${i}"><stop/><stop/></linearGradient>` +
      `<style>.c${i} { clip-path: url(#c${i}); fill: url(#l${i}) }</style>`,
  ).join('')
  assert.ok(clean(`${clips}${'<g clip-path="url(#c1)">'.repeat(20)}${'<path/>'.repeat(1000)}`))
  // An animation may name the element that it is in.
  assert.ok(clean('<g id="a"><animate href="#a" attributeName="x"/></g>'))
})

test('other texts are no drawings', () => {
  for (const text of ['<html><svg></svg>', 'text <svg>', '', '<?xml?><rss/>', '<svgx>'])
    assert.equal(looksLikeSvg(text), false, text)
  assert.equal(cleanSvg('<!-- <svg> -->'), null)
})
