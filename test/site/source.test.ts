import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rawFilePath, sourceFilePath } from '../../core/paths/crates.ts'
import { HIGHLIGHT_MAX, highlight } from '../../site/elements/highlight.ts'
import { html } from '../../site/elements/markup.ts'
import { FILE_MAX, imageType, partsOf } from '../../site/source/files.ts'
import { numberedLines, splitLines } from '../../site/source/lines.ts'
import { sourcePages } from '../../site/source/pages.ts'
import { demoFacts, NO_PLACE } from '../support/demo-site.ts'

const paths: [file: string, page: string | null][] = [
  ['src/lib.rs', 'src/lib.rs.html'],
  ['index', 'index_.html'],
  ['index_', 'index__.html'],
  ['Index', 'Index_.html'],
  ['a/index', 'a/index.html'],
  ['index.html', 'index.html.html'],
  ['a.html/b', 'a.html_/b.html'],
  ['a.html_/b', 'a.html__/b.html'],
  ['A.HTML/b', 'A.HTML_/b.html'],
  ['a', 'a.html'],
  ['.gitignore', '_.gitignore.html'],
  ['_.gitignore', '__.gitignore.html'],
  ['.github/a.yml', '_.github/a.yml.html'],
  ['.html/a', '_.html_/a.html'],
  ['_a', '_a.html'],
  ['aux.rs', '_aux.rs.html'],
  ['_AUX.rs', '__AUX.rs.html'],
  ['com1/nul', '_com1/_nul.html'],
  ['auxiliary.rs', 'auxiliary.rs.html'],
  ['con-a/lpt.rs', 'con-a/lpt.rs.html'],
  ['ä +&.rs', 'ä +&.rs.html'],
  ['a?.rs', null],
  ['a#.rs', null],
  ['50%/a.rs', null],
  ['../x', null],
  ['a//b', null],
  ['a\\b', null],
  ['a\nb', null],
  ['nul.', null],
  ['x'.repeat(201), null],
]
for (const [file, page] of paths) {
  test(`page of the file ${JSON.stringify(file.slice(0, 30))}`, () => {
    assert.equal(
      sourceFilePath('n', '1.0.0', file),
      page === null ? null : `crates/n/1.0.0/src/${page}`,
    )
  })
}

test('no path of a file is too long for an object storage with the longest prefix', () => {
  const bytes = (path: string | null) => (path === null ? 0 : Buffer.byteLength(path))
  for (const letter of ['a', '\u6587']) {
    for (const [name, version] of [
      ['n', '1.0.0'],
      ['n'.repeat(64), `1.0.0-${'a'.repeat(178)}`],
    ] as const) {
      let shown = 0
      for (let count = 1; count < 1000; count++) {
        const file = `.${letter.repeat(count)}.txt`.replaceAll(/.{60}/gu, '$&.html/')
        const paths = [
          ...[1, 1000].map(part => sourceFilePath(name, version, file, part)),
          ...[true, false].map(isImage => rawFilePath(name, version, file, isImage)),
        ]
        // A page leads to the others: all are there, or none.
        assert.ok(new Set(paths.map(path => path === null)).size === 1, file)
        for (const path of paths) {
          assert.ok(512 + 1 + bytes(path) <= 1024, `${bytes(path)} bytes`)
          assert.ok((path ?? '').split('/').every(one => bytes(one) <= 255))
        }
        if (paths[0] !== null) shown = bytes(file)
      }
      assert.ok(shown > (name === 'n' ? 400 : 190), `${name} ${shown}`)
    }
  }
})

test('marks over several lines are closed and opened again', () => {
  assert.deepEqual(splitLines('<span class="c">a\nb</span>c\n'), [
    '<span class="c">a</span>',
    '<span class="c">b</span>c',
  ])
  assert.deepEqual(splitLines(''), [''])
  assert.deepEqual(splitLines('a\n\nb'), ['a', '', 'b'])
})

test('the text of every line survives highlighting', () => {
  const code = '/* <a>\n & */\nfn f() -> &str { "x\\n" }\n\n'
  const text = splitLines(highlight(code, 'rust').toString()).map(line =>
    line.replace(/<[^>]*>/g, ''),
  )
  assert.deepEqual(text, [
    '/* &lt;a&gt;',
    ' &amp; */',
    'fn f() -&gt; &amp;str { &quot;x\\n&quot; }',
    '',
  ])
})

test('long code is shown plain', () => {
  const long = 'fn f() {}\n'.repeat(HIGHLIGHT_MAX / 10 + 1)
  assert.equal(highlight(long, 'rust').toString(), long)
})

test('characters that turn the direction of text are named', () => {
  assert.equal(
    numberedLines(html`${'a\u202eb'}`).toString(),
    '<span><a id="L1" href="#L1">1</a>a[U+202E]b\n</span>',
  )
})

test('binary and large files are listed without a page', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const files = [
    { path: 'a.rs', size: 1, content: bytes('x') },
    { path: 'b.bin', size: 3, content: new Uint8Array([1, 0, 2]) },
    { path: 'c.txt', size: 2, content: new Uint8Array([0xff, 0xfe]) },
    { path: 'd.rs', size: 10_000_000, content: null },
  ]
  const pages = [
    ...sourcePages(demoFacts('https://x.example'), {
      name: 'n',
      version: '1.0.0',
      files,
      place: NO_PLACE,
    }),
  ]
  assert.deepEqual(
    pages.map(page => page.path),
    ['crates/n/1.0.0/src/index.html', 'crates/n/1.0.0/src/a.rs.html'],
  )
  for (const name of ['a.rs', 'b.bin', 'c.txt', 'd.rs'])
    assert.ok(pages[0]?.bytes.toString().includes(name))
})

test('of files whose names differ only by case one has a page, the others are listed', () => {
  const files = [
    'readme.md',
    'README.md',
    'Src/a.rs',
    'src/a.rs',
    'src/b.rs',
    'e\u0301',
    '\u00e9',
  ].map(path => ({
    path,
    size: 1,
    content: new TextEncoder().encode('x'),
  }))
  const [tree, ...pages] = [
    ...sourcePages(demoFacts('https://x.example'), {
      name: 'n',
      version: '1.0.0',
      files,
      place: NO_PLACE,
    }),
  ]
  assert.deepEqual(
    pages.map(page => page.path.slice('crates/n/1.0.0/src/'.length)),
    ['README.md.html', 'Src/a.rs.html', 'e\u0301.html', 'src/b.rs.html'],
  )
  assert.match(tree?.bytes.toString() ?? '', / readme\.md <span/)
})

const grammars: [language: string, code: string][] = [
  ['rust', 'r#"'],
  ['rust', '/*'],
  ['rust', "'a "],
  ['toml', '[['],
  ['json', '[{"a":'],
  ['bash', '$(('],
  ['yaml', '- &a *a '],
  ['c', '#define a(\\\n'],
  ['cpp', 'a<b<'],
  ['javascript', '`${'],
  ['typescript', '(a:b)=>('],
  ['python', 'f"{'],
  ['markdown', '*_`['],
  ['xml', '<a b="'],
  ['css', 'a{b:c('],
  ['sql', "'' -- "],
]
test('a raw string of Rust ends with its own number of marks', () => {
  const result = highlight('r#"a"b"#, r"c\\", br##"d"#"##', 'rust').toString()
  const strings = [...result.matchAll(/<span class="hljs-string">(.*?)<\/span>/g)].map(
    ([, one]) => one,
  )
  const quoted = (text: string) => text.replaceAll('"', '&quot;')
  assert.deepEqual(strings, ['r#"a"b"#', 'r"c\\"', 'br##"d"#"##'].map(quoted))
})

test('Markdown has its colors, and a line that is too long has none', () => {
  const code =
    '# A *title*\n- `code`, **strong**, *soft*, [a](b.md)\n> said\n~~~\n# no title\n~~~\n'
  const result = highlight(code, 'markdown').toString()
  const found = [...result.matchAll(/<span class="hljs-(\w+)">([^<]*)/g)].map(([, a, b]) => [a, b])
  assert.deepEqual(found, [
    ['section', '# A *title*'],
    ['bullet', '-'],
    ['code', '`code`'],
    ['strong', '**strong**'],
    ['emphasis', '*soft*'],
    ['link', '[a](b.md)'],
    ['quote', '&gt; said'],
    ['code', '~~~\n# no title\n~~~'],
  ])
  const line = (length: number) => highlight(`let ${'a'.repeat(length - 4)}\n`, 'rust').toString()
  assert.match(line(1000), /<span/)
  assert.doesNotMatch(line(1001), /<span/)
})

for (const [language, code] of grammars) {
  test(`hostile ${language} (${code.trim()}) is highlighted in little time`, () => {
    const before = process.cpuUsage()
    // Lines of the most characters that are highlighted.
    const lines = code.repeat(64 * 1024).replace(/[^\n]{999}/g, '$&\n')
    const text = lines.slice(0, 64 * 1024)
    const result = highlight(text, language).toString()
    const used = process.cpuUsage(before)
    assert.ok(
      (used.user + used.system) / 1e6 < 3,
      `${(used.user + used.system) / 1e6} s of processor time`,
    )
    assert.deepEqual(result.match(/<(?!\/?span\b)/g), null)
  })
}

/** The paths of the pages of some files. */
function pagesOf(files: { path: string; size: number; content: Uint8Array }[]): string[] {
  const data = { name: 'n', version: '1.0.0', files, place: NO_PLACE }
  return [...sourcePages(demoFacts('https://x.example'), data)].map(one => one.path)
}

test('a thousand files have a page', () => {
  const content = new TextEncoder().encode('x')
  const files = Array.from({ length: 1001 }, (_, at) => ({ path: `f${at}.txt`, size: 1, content }))
  assert.equal(pagesOf(files).length, 1 + 1000)
})

test('a file of up to 1 MiB is shown, in parts of whole lines', () => {
  const lines = (bytes: number) => {
    const content = new TextEncoder().encode(`${'x'.repeat(63)}\n`.repeat(bytes / 64 + 1))
    return { path: 'a.txt', size: bytes, content: content.subarray(0, bytes) }
  }
  const pages = pagesOf([lines(FILE_MAX)])
  assert.equal(pages.length, 1 + Math.ceil(FILE_MAX / HIGHLIGHT_MAX))
  assert.deepEqual(pages.slice(1, 3), [
    'crates/n/1.0.0/src/a.txt.html',
    'crates/n/1.0.0/parts/2/a.txt.html',
  ])
  assert.equal(pagesOf([lines(FILE_MAX + 1)]).length, 1)
})

test('parts begin where the part before ends', () => {
  const text = 'a\n'.repeat(4500)
  const parts = partsOf(text)
  assert.deepEqual(
    parts.map(one => [one.first, one.lines]),
    [
      [1, 2000],
      [2001, 2000],
      [4001, 500],
    ],
  )
  assert.equal(parts.map(one => one.text).join(''), text)
  assert.deepEqual(partsOf(''), [{ text: '', first: 1, lines: 0 }])
})

test('only images that begin like images are shown as such', () => {
  const png = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0])
  const page = new TextEncoder().encode('<script>')
  const type = (path: string, content: Uint8Array) =>
    imageType({ path, size: content.length, content })
  assert.deepEqual(
    [type('A.PNG', png), type('a.jpg', png), type('a.png', page), type('a.svg', page)],
    ['png', null, null, null],
  )
})
