import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooComplexError } from '../../../site/readme/bounded-tree.ts'
import { cleanSvg, looksLikeSvg } from '../../../site/readme/svg.ts'
import { frugally } from '../../support/processor-time.ts'

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

const ZIGZAG = 'h1v1'.repeat(10_000)
const PARTS = '<rect/>'.repeat(1000)
const MARKER = `<marker id="m">${PARTS}</marker>`

/** Small drawings of many millions of elements. */
const EXPENSIVE: readonly string[] = [
  `${MARKER}<path marker-mid="url(#m)" d="${ZIGZAG}"/>`,
  `${MARKER}<polyline style="marker: url(#m)" points="${'0 0 1 1 '.repeat(9000)}"/>`,
  `${MARKER}<g marker-mid="url(#m)"><path d="${ZIGZAG}"/></g>`,
  `${MARKER}<style>path { marker-mid: url("#m") }</style><path d="${ZIGZAG}"/>`,
  `${MARKER}<style>a { d: path("${ZIGZAG}") }</style><path marker-mid="url(#m)"/>`,
  `${MARKER}<path marker-mid="url(#m)"><animate attributeName="d" values="${ZIGZAG}"/></path>`,
  `<marker id="n"><rect/></marker><marker id="m"><path marker-mid="url(#n)" d="${ZIGZAG}"/></marker>
    <path marker-mid="url(#m)" d="${ZIGZAG}"/>`,
  // A line paints its marker.
  `<pattern id="p">${PARTS}</pattern><marker id="m"><path fill="context-fill"/></marker>
    <path fill="url(#p)" marker-mid="url(#m)" d="${ZIGZAG}"/>`,
  ...[
    '*',
    'g > *',
    ':root *',
    '[d]',
    ':is(.x, path)',
    ':not(:is(.x))',
    'a, path:hover',
    '@media print { .x, g > path',
    '@keyframes x { from',
    '.x, :is(;), .c { } .c',
    '.x { fill: red; .c',
    '.c { & ',
    '.c { mask: url(#m); .x { fill: red } } .x',
    '.c { @media print',
  ].map(
    selector =>
      `<style>${selector} { mask: url(#m) }</style><mask id="m">${PARTS}</mask>
        ${'<path class="c" d="M0 0"/>'.repeat(1001)}`,
  ),
]

test('what a marker, a rule or an inherited value draws is counted as often as it is drawn', () => {
  for (const inside of EXPENSIVE)
    assert.throws(() => clean(inside), /^Error: it draws too many elements$/, inside.slice(0, 300))
})

/** Levels that nothing but the reading of properties could hide. */
const HIDDEN: ((at: number, paths: (attributes: string) => string) => string)[] = [
  (at, paths) => `<g fill="url(#a${at - 1})"><pattern id="a${at}">${paths('')}</pattern></g>`,
  (at, paths) =>
    `<foreignObject id="a${at}"/><pattern id="a${at}">${paths(`fill="url(#a${at - 1})"`)}</pattern>`,
  (at, paths) =>
    `<g><pattern id="a${at}">${paths(`fill="url(#a${at - 1})"`)}</pattern></g><g id="a${at}"/>`,
  (at, paths) =>
    `<pattern id="a${at}"><g style='--x: "/*"; fill: url(#a${at - 1}); --y: "*/"'>${paths('')}</g></pattern>`,
  (at, paths) =>
    `<pattern id="a${at}"><g style="--k:; fill: var(--k, (;mask:)) url(#a${at - 1})">${paths('')}</g></pattern>`,
  (at, paths) =>
    `<mask id="a${at}"><g mask="url(#a${at - 1})">${paths('mask="inherit"')}</g></mask>`,
  (at, paths) =>
    `<mask id="a${at}"><g style="--a: url(#a${at - 1})">${paths('style="mask: var(--a), var(--a)"')}</g></mask>`,
]

test('no way to write a reference hides how often it is drawn', () => {
  const paths = (attributes: string) => `<path ${attributes}/>`.repeat(10)
  for (const level of HIDDEN) {
    const levels = LEVELS.map(at => level(at, paths)).join('')
    const ends = '<path fill="url(#a9)" mask="url(#a9)"/>'
    assert.throws(
      () => cleanSvg(`<svg><pattern id="a0"><path/></pattern>${levels}${ends}</svg>`),
      /^Error: it draws too many elements$/,
      levels.slice(0, 300),
    )
  }
})

test('usual drawings with markers, masks and style sheets are drawn', () => {
  const twelve = Array.from({ length: 12 }, (_, i) => i)
  const masks = twelve.map(i => `<mask id="m${i}"><g><path/></g></mask>`).join('')
  const rules = twelve.map(i => `.c${i}{mask:url(#m${i})}`).join('/* " */')
  const paths = twelve.map(i => `<path class="a c${i}"/>`.repeat(20)).join('')
  assert.ok(clean(`<style>${rules}</style>${masks}${paths}`))

  const arrow = '<marker id="m"><g><path class="a"/><path/></g></marker>'
  const line = (attribute: string) => `<path ${attribute}="url(#m)" d="${'h1v1'.repeat(1000)}"/>`
  assert.ok(clean(arrow + line('marker-mid').repeat(20)))
  assert.ok(clean(arrow + line('marker-end').repeat(50)))
  // The marker has paths itself.
  for (const selector of ['path', 'g path:hover', '.a'])
    assert.ok(clean(`<style>${selector} { marker-end: url(#m) }</style>${arrow}${line('class')}`))
  const gradient = '<linearGradient id="l"><stop/></linearGradient>'
  assert.ok(clean(`<style>:root { --l: url(#l) } * { fill: url(#l) }</style>${gradient}`))
  assert.ok(
    clean(`<style>@media print { .Fläche:not(.b), text.a[x="}"] { clip-path: url('#c') } }</style>
      <clipPath id="c"><rect/></clipPath>${'<path class="Fläche"/>'.repeat(1000)}`),
  )
})

test('a part that can be drawn outside itself is no end of a chain', () => {
  const clone = `<marker id="m">${PARTS}<path id="x" class="k"/></marker>${'<use href="#x"/>'.repeat(2000)}`
  const copy = `<pattern id="m">${'<path class="k"/>'.repeat(2000)}</pattern><pattern id="p" href="#m"/><path fill="url(#p)"/>`
  for (const inside of [clone, copy])
    assert.throws(
      () => clean(`<style>.k { marker-end: url(#m); fill: url(#m) }</style>${inside}`),
      TooComplexError,
    )
})

test('drawings of many rules, classes and elements are counted in little time', () => {
  const times = (count: number, of: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => of(at)).join('')
  const classes = times(8000, at => `c${at} `)
  const targets = times(2000, at => `<mask id="m${at}"/>`)
  const drawings = [
    `<style>${times(5000, at => `.a{mask:url(#m${at % 2000})}`)}</style>${targets}${'<g class="a"/>'.repeat(8000)}`,
    `<style>${times(4000, at => `.c${at}{mask:url(#m${at % 2000})}`)}</style>${targets}<g class="${classes}"/>`,
    `<mask id="m"><style>.a{${'mask:url(#m);'.repeat(9000)}}</style>${'<g class="a"/>'.repeat(9000)}</mask>`,
    `<foreignObject><b class="${classes}" style="${'fill:url(#m);'.repeat(5000)}">${'<p>'.repeat(20_000)}`,
    ...['/* ', '(', '[', '{', '}', ':', ';', ',', '"', "'", 'url(', 'a ', '.a{}', 'a:is('].map(
      text =>
        `<style>${text.repeat(256_000 / text.length)}</style><g style="${text.repeat(60_000 / text.length).replaceAll('"', '')}"/>`,
    ),
    `${'<g>'.repeat(90)}${times(7000, at => `<mask id="m${at}"/><g mask="url(#m${at})"/>`)}`,
  ]
  for (const drawing of drawings)
    frugally(
      () => {
        try {
          clean(drawing)
        } catch (error) {
          assert.ok(error instanceof TooComplexError)
        }
      },
      drawing.slice(0, 100),
    )
})

test('other texts are no drawings', () => {
  for (const text of ['<html><svg></svg>', 'text <svg>', '', '<?xml?><rss/>', '<svgx>'])
    assert.equal(looksLikeSvg(text), false, text)
  assert.equal(cleanSvg('<!-- <svg> -->'), null)
})
