import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../../../site/elements/grammars.ts'
import { color, HIGHLIGHT_MAX, highlight } from '../../../site/elements/highlight.ts'
import { fenceLanguage, fileLanguage } from '../../../site/elements/languages.ts'
import { splitLines } from '../../../site/source/lines.ts'
import { frugally } from '../../support/processor-time.ts'

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
  assert.match(color(long, 'rust').toString(), /<span/)
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
    ([, language]) => language,
  )
  const quoted = (text: string) => text.replaceAll('"', '&quot;')
  assert.deepEqual(strings, ['r#"a"b"#', 'r"c\\"', 'br##"d"#"##'].map(quoted))
})

test('Markdown has its colors, and a line that is too long has none', () => {
  const code =
    '# A *title*\n- `code`, **strong**, *soft*, [a](b.md)\n> said\n~~~\n# no title\n~~~\n'
  const result = highlight(code, 'markdown').toString()
  const spans = [...result.matchAll(/<span class="hljs-(\w+)">([^<]*)/g)].map(([, a, b]) => [a, b])
  assert.deepEqual(spans, [
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
    // Lines of the most characters that are highlighted.
    const lines = code.repeat(64 * 1024).replace(/[^\n]{999}/g, '$&\n')
    const text = lines.slice(0, 64 * 1024)
    const result = frugally(() => highlight(text, language).toString(), code, 3000)
    assert.deepEqual(result.match(/<(?!\/?span\b)/g), null)
  })
}

test('languages are told by the names of files and of fences', () => {
  const files = ['src/lib.rs', 'Cargo.lock', 'Makefile', 'a.tar.gz', '.rs', 'README', 'x.HTML']
  assert.deepEqual(files.map(fileLanguage), ['rust', 'toml', 'makefile', null, 'rust', null, 'xml'])
  const fences = ['rust,no_run', 'should_panic', 'console', '', 'text', 'c++', 'js {1}']
  assert.deepEqual(fences.map(fenceLanguage), [
    ...['rust', 'rust', 'shell', null, null, 'cpp', 'javascript'],
  ])
})
