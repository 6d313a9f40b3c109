import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageType, mainFile, textOf } from '../../../site/source/content.ts'
import { findText } from '../../../site/source/find.ts'
import { blocksOf, splitLines, visible } from '../../../site/source/lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('a text is found in all files, with its lines; capitals count only if there are some', () => {
  const files = new Map([
    ['a.rs', bytes('fn one() {}\n// One, (one)\n\nfn two() {}\n')],
    ['logo.png', new Uint8Array([0x6f, 0x6e, 0x65, 0])],
    ['b.rs', bytes('one')],
  ])
  const hitsOf = (query: string) =>
    findText(files, query).hits.map(({ path, line, parts }) => `${path}:${line} ${parts.join('|')}`)
  assert.deepEqual(hitsOf('one'), [
    'a.rs:1 fn |one|() {}',
    'a.rs:2 // |One|, (one)',
    'a.rs:2 // One, (|one|)',
    'b.rs:1 |one|',
  ])
  assert.deepEqual(hitsOf('One'), ['a.rs:2 // |One|, (one)'])
  assert.deepEqual(hitsOf('(one)'), ['a.rs:2 // One, |(one)|'])
  assert.deepEqual(hitsOf(''), [])
  assert.deepEqual(hitsOf('.'), [])
})

test('a text that is everywhere is not listed without end, and long lines are cut', () => {
  const { hits, isMore } = findText(new Map([['a', bytes('x'.repeat(10_000))]]), 'x')
  assert.equal(hits.length, 500)
  assert.equal(isMore, true)
  assert.ok(hits.every(hit => hit.parts.join('').length <= 121))
})

test('marks over several lines are closed and opened again, and lines are put into blocks', () => {
  assert.deepEqual(splitLines('<span class="c">a\nb</span>c\n'), [
    '<span class="c">a</span>',
    '<span class="c">b</span>c',
  ])
  assert.deepEqual(splitLines(''), [''])
  assert.deepEqual(splitLines('a\n\nb'), ['a', '', 'b'])
  const blocks = blocksOf(Array.from({ length: 1001 }, (_, at) => `${at}`))
  assert.deepEqual(
    blocks.map(block => [block.lines, block.html.slice(0, 4)]),
    [
      [500, '0\n1\n'],
      [500, '500\n'],
      [1, '1000'],
    ],
  )
  const long = blocksOf(['<b>', '2', '3'], ['x'.repeat(20_000), 'y', 'z'])
  assert.deepEqual(
    long.map(block => block.lines),
    [1, 2],
  )
})

test('what could disguise code is named, and a line that is too long is cut', () => {
  assert.equal(visible('a\u202eb\r\nc\rd'), 'a[U+202E]b\nc[U+000D]d')
  assert.equal(visible('\ufeffa\u200bb'), '[U+FEFF]a[U+200B]b')
  assert.equal(visible('x'.repeat(6000)).length, 2002)
})

test('text and images are told by their beginnings', () => {
  const png = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0])
  assert.equal(textOf(png), null)
  assert.equal(textOf(bytes('a\nb')), 'a\nb')
  assert.equal(textOf(bytes('\ufeffa')), '\ufeffa')
  assert.equal(textOf(new Uint8Array([0xff, 0xfe])), 'ÿþ')
  const page = bytes('<script>')
  assert.deepEqual(
    [
      imageType('A.PNG', png),
      imageType('a.jpg', png),
      imageType('a.png', page),
      imageType('a.svg', page),
    ],
    ['image/png', null, null, null],
  )
})

test('a package shows its library first, or else its program or manifest', () => {
  const first = (...paths: string[]) => mainFile(new Map(paths.map(path => [path, 0])))
  assert.equal(first('Cargo.toml', 'src/main.rs', 'src/lib.rs'), 'src/lib.rs')
  assert.equal(first('Cargo.toml', 'src/main.rs'), 'src/main.rs')
  assert.equal(first('b', 'a'), 'a')
  assert.equal(first(), '')
})
