import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFileSum } from '../../../site/compare/file-sum.ts'
import { comparisonPage } from '../../../site/compare/page.ts'
import type { SourceFile } from '../../../site/source/files.ts'
import { demoFacts } from '../../support/demo-site.ts'

const version = (number: string) => ({
  version: number,
  rust_version: null,
  edition: '2021',
  license: 'MIT',
  license_file: null,
  links: null,
  deps: [],
  features: {},
})

const file = (path: string, text: string | Uint8Array): SourceFile => {
  const content = typeof text === 'string' ? new TextEncoder().encode(text) : text
  return { path, size: content.length, content }
}

function page(before: SourceFile[], after: SourceFile[], versions: string[] | null = null): string {
  const comparison = {
    site: demoFacts('https://x.example'),
    path: 'crates/n/1.1.0/changes/index.html',
    name: 'n',
    before: { version: version('1.0.0'), hasPages: true },
    after: { version: version('1.1.0'), hasPages: true },
    versions,
  }
  return comparisonPage(comparison, { before, after })
}

/** The changed files as one reads them, each with its lines. */
function told(html: string): string[] {
  return [...html.matchAll(/<details class="file-diff".*?<\/details>/gs)].map(([one]) =>
    one
      .replace(/<[^>]*>/g, '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

test('added, removed, renamed, changed and binary files; what Cargo made is last and closed', () => {
  const text = page(
    [
      file('Cargo.lock', 'version = 3\n'),
      file('a.rs', 'fn a() {}\n'),
      file('b.rs', 'fn b() {}\nfn c() {}\n'),
      file('old.rs', 'fn old() {}\n'),
      file('gone.txt', 'x\n'),
      file('logo.png', new Uint8Array([0, 1])),
      { path: 'huge.txt', size: 9_000_000, content: null, digest: 'same' },
      { path: 'huge.bin', size: 9_000_000, content: null, digest: 'one' },
    ],
    [
      file('Cargo.lock', 'version = 4\n'),
      file('a.rs', 'fn a() {}\n'),
      file('b.rs', 'fn b() {}\nfn d() {}\n'),
      file('new/old.rs', 'fn old() {}\n'),
      file('come.txt', 'y\n'),
      file('logo.png', new Uint8Array([0, 1, 2])),
      { path: 'huge.txt', size: 9_000_000, content: null, digest: 'same' },
      { path: 'huge.bin', size: 9_000_000, content: null, digest: 'two' },
    ],
  )
  assert.deepEqual(told(text), [
    'changed b.rs +1 −1 File before · File after line 1 11 fn b() {} 2−fn c() {} 2+fn d() {}',
    'added come.txt +1 −0 File after line 1 1+y',
    'removed gone.txt +0 −1 File before line 1 1−x',
    'changed huge.bin not text, or too large to compare: 8.6 MiB → 8.6 MiB',
    'changed logo.png not text, or too large to compare: 2 B → 3 B',
    'renamed new/old.rs was old.rs, with the same content · File before · File after',
    'changed Cargo.lock +1 −1 File before · File after line 1 1−version = 3 1+version = 4',
  ])
  const sum = '7 files differ: 4 changed, 1 added, 1 removed, 1 renamed; 3 lines added, 3 removed.'
  assert.ok(text.includes(`<p class="file-sum">${sum}</p>`))
  assert.equal(readFileSum(Buffer.from(text)), sum)
  assert.match(text, /<span class="hljs-keyword">fn<\/span>/)
  assert.match(text, /id="file-1" open>/)
  assert.doesNotMatch(text, /id="file-7" open>/)
  assert.match(text, /href="\.\.\/src\/b\.rs\.html#L1"/)
})

test('versions without differences say so', () => {
  const text = page([file('a', 'x')], [file('a', 'x')])
  assert.match(text, /No file differs\./)
  assert.match(text, /Nothing that Cargo reads differs, except the version\./)
})

test('what is too long is not shown, but counted and linked', () => {
  const long = (word: string) => `${word}\n`.repeat(2500)
  const text = page([file('a.txt', '')], [file('a.txt', long('x'))])
  assert.deepEqual(told(text), [
    'changed a.txt +2,500 −0 too many lines changed to show them here · File before · File after',
  ])
  const wide = page([file('a.txt', '')], [file('a.txt', `${'x'.repeat(5000)}\n`)])
  assert.match(wide, /\+x{1000} …\n/)
})

test('a page of changes has a bound, however many files there are', () => {
  const files = (text: string) =>
    Array.from({ length: 3000 }, (_, at) => file(`src/f${at}.rs`, `// ${text}\n`.repeat(100)))
  const text = page(files('a'), files('b'))
  assert.ok(text.length < 4_000_000, `${text.length}`)
  assert.match(text, /3,000 files differ: 3,000 changed; 300,000 lines added, 300,000 removed\./)
  assert.match(text, /The first 1,000 files are shown\./)
})

test('hostile names and lines are text', () => {
  const evil = '</code></pre><script>__hit=1</script>'
  const text = page([], [file(`${evil}.rs`, `// ${evil} \u202e\n`)])
  assert.doesNotMatch(text, /<script>__hit/)
  assert.match(text, /\[U\+202E\]/)
})

test('a few hundred versions are listed, more are typed', () => {
  const versions = Array.from({ length: 300 }, (_, at) => `1.${300 - at}.0`)
  assert.match(page([], [], ['1.1.0', '1.0.0']), /<select name="from">.*selected>1\.0\.0</)
  assert.match(page([], [], versions), /<input name="from" value="1\.0\.0" list="compare-versions"/)
  assert.doesNotMatch(page([], []), /<form class="compare-form"/)
})
