import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFragment } from 'parse5'
import { markdown } from '../../site/readme/markdown.ts'
import { renderReadme } from '../../site/readme/readme.ts'
import { BOMBS, PAYLOADS } from '../support/hostile.ts'
import { frugally } from '../support/processor-time.ts'

const origin = { repository: 'https://github.com/example/keel', vcs_path: 'crates/keel' }

function render(text: string, images: 'link' | 'load' = 'link', path = 'README.md'): string {
  return renderReadme({ text, about: { readme_file: path, ...origin }, images })
    .html.replace(/^<div class="readme">|<\/div>$/g, '')
    .trim()
}

const REL = 'rel="nofollow noopener noreferrer"'
const PAGES = 'https://github.com/example/keel/blob/HEAD'
const BYTES = 'https://github.com/example/keel/raw/HEAD'

const gfm: [what: string, text: string, html: string][] = [
  ['a heading', '# A & B', '<h2 id="user-content-a--b">A &amp; B</h2>'],
  [
    'headings that would have the same id',
    '\ufeff## a\n## a\n## a 1',
    '<h3 id="user-content-a">a</h3>\n<h3 id="user-content-a-1">a</h3>\n<h3 id="user-content-a-1-1">a 1</h3>',
  ],
  ['a link to a heading', '[x](#a)', `<p><a href="#user-content-a" ${REL}>x</a></p>`],
  ['struck out text', '~~x~~', '<p><s>x</s></p>'],
  [
    'a bare address',
    'https://a.example',
    `<p><a href="https://a.example/" ${REL}>https://a.example</a></p>`,
  ],
  [
    'a bare address without scheme',
    'see www.a.example/b_c, wwww.a.example and (www.b.example).',
    `<p>see <a href="http://www.a.example/b_c" ${REL}>www.a.example/b_c</a>, wwww.a.example and (<a href="http://www.b.example/" ${REL}>www.b.example</a>).</p>`,
  ],
  [
    'www. alone or within a word',
    'www. and www and a.www.b.c',
    '<p>www. and www and a.www.b.c</p>',
  ],
  ['a file name that looks like a host', 'see lib.rs', '<p>see lib.rs</p>'],
  [
    'a task list',
    '- [x] a\n- [ ] b',
    '<ul dir="auto">\n<li class="task-item"><input type="checkbox" disabled="" aria-label="done" checked=""> a</li>\n<li class="task-item"><input type="checkbox" disabled="" aria-label="open"> b</li>\n</ul>',
  ],
  [
    'an alert',
    '> [!TIP]\n> Do *it*.',
    '<div class="markdown-alert markdown-alert-tip">\n<p class="markdown-alert-title">Tip</p>\n<p>Do <em>it</em>.</p>\n</div>',
  ],
  [
    'a quote that is no alert',
    '> [!DANGER]\n> x',
    '<blockquote>\n<p>[!DANGER]\nx</p>\n</blockquote>',
  ],
  [
    'a table',
    '|a|b|\n|-|-:|\n|1|2|',
    '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table dir="auto">\n<thead>\n<tr>\n<th>a</th>\n<th align="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align="right">2</td>\n</tr>\n</tbody>\n</table></div>',
  ],
  [
    'Rust with a rustdoc word',
    '```rust,no_run\nlet x = 1;\n```',
    '<pre tabindex="0"><code class="language-rust"><span class="hljs-keyword">let</span> <span class="hljs-variable">x</span> = <span class="hljs-number">1</span>;\n</code></pre>',
  ],
  ['an unknown language', '```brain\n<x>\n```', '<pre tabindex="0"><code>&lt;x&gt;\n</code></pre>'],
  ['a filtered tag', 'a <title> b', '<p>a &lt;title&gt; b</p>'],
  ['allowed HTML', '<p align="center"><kbd>x</kbd></p>', '<p align="center"><kbd>x</kbd></p>'],
  [
    'an anchor as of old',
    '<a name="x"></a>[to it](#x)',
    `<p><a id="user-content-x"></a><a href="#user-content-x" ${REL}>to it</a></p>`,
  ],
  ['a stray item', '<li>x</li>', 'x'],
  [
    'other attributes',
    '<p class="top" id="main" style="color:red" data-x onclick="x()">x</p>',
    '<p>x</p>',
  ],
]
for (const [what, text, html] of gfm) {
  test(`a README with ${what}`, () => {
    assert.equal(render(text), html)
  })
}

test('names of Object.prototype are neither elements, attributes, classes nor languages', () => {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    // Those that begin with `_` are no names of elements, and Markdown reads them as emphasis.
    const isWord = /^[a-z]/.test(name)
    if (isWord)
      assert.equal(render(`a <${name} class="${name}" ${name}="1">b</${name}>`), '<p>a b</p>', name)
    assert.equal(render(`<p class="${name}" ${name}="1">x</p>`), '<p>x</p>', name)
    assert.equal(
      render(`<ol class="${name}"><li ${name}>x</li></ol>`),
      '<ol dir="auto"><li>x</li></ol>',
      name,
    )
    if (isWord)
      assert.equal(render(`> [!${name}]`), `<blockquote>\n<p>[!${name}]</p>\n</blockquote>`)
    const code = `\`\`\`${name}\nx\n\`\`\``
    assert.equal(render(code), '<pre tabindex="0"><code>x\n</code></pre>', name)
  }
})

test('a README that grows beyond what anybody writes is plain text, and says why', () => {
  const reasons: [text: string, because: string][] = [
    [
      `${Array.from({ length: 400 }, (_, at) => `<b id=${at}>`).join('')}${'<p>x'.repeat(600)}`,
      'it has too many elements',
    ],
    [BOMBS['formatting with ids in paragraphs'] ?? '', 'it has too many elements'],
    // A browser lays out all items of a list at once: this one for 200 ms.
    ['* a\n'.repeat(8000), 'it has too many elements'],
    ['<div>'.repeat(600), 'its elements are nested too deeply'],
    // A browser looks for the ends of its words for seconds.
    ['\u0e01'.repeat(5001), 'a paragraph is too long'],
    [
      '<p>\u0645 <b>a</b>'.repeat(2) + '<kbd>\u0645</kbd> a '.repeat(5000),
      'a paragraph is too long',
    ],
  ]
  for (const [text, because] of reasons) {
    const notice = `<p class="notice">This README is shown as plain text because ${because}.</p>`
    const html = render(text)
    assert.ok(html.startsWith(`${notice}<div class="readme"><pre class="plain-text"`), because)
    assertHarmless(html)
  }
  assert.match(render('* a\n'.repeat(7900)), /^<ul dir="auto">/)
  assert.match(render(`${'\u0e01'.repeat(5000)}\n\n`.repeat(9)), /^<p>\u0e01/)
  assert.match(render('word '.repeat(9000)), /^<p>word/)
})

const links: [text: string, href: string | null][] = [
  ['docs/a.md', `${PAGES}/crates/keel/docs/a.md`],
  ['/docs/a.md', `${PAGES}/docs/a.md`],
  ['../other/', `${PAGES}/crates/other/`],
  ['../../../../../evil', null],
  ['//a.example/x', 'https://a.example/x'],
  ['mailto:a@b.example', 'mailto:a@b.example'],
  ['javascript:alert(1)', null],
  ['JaVaScRiPt&#58;alert(1)', null],
  ['vbscript:x', null],
  ['data:text/html,x', null],
  ['ftp://a.example/x', null],
  ['crate::Type', null],
  ['struct.A.html#impl-fmt::Debug', null],
  [
    'https://a.example/struct.A.html#impl-fmt::Debug',
    'https://a.example/struct.A.html#impl-fmt::Debug',
  ],
  ['a"onclick="x', `${PAGES}/crates/keel/a%22onclick=%22x`],
  [`https://a.example/${'x'.repeat(2000)}`, null],
]
for (const [target, href] of links) {
  test(`a link to ${target.slice(0, 60)}`, () => {
    const html = render(`<a href='${target}'>x</a>`)
    assert.equal(
      html,
      href === null
        ? '<p>x</p>'
        : `<p><a href="${href.replaceAll('"', '&quot;')}" ${REL}>x</a></p>`,
    )
  })
}

const images: [what: string, text: string, link: string, load: string][] = [
  [
    'of the repository',
    '![a](b.svg)',
    `<a class="image" href="${BYTES}/crates/keel/b.svg?sanitize=true" ${REL}>a</a>`,
    `<img src="${BYTES}/crates/keel/b.svg?sanitize=true" alt="a" loading="lazy" referrerpolicy="no-referrer">`,
  ],
  [
    'in a link',
    '[![a](https://i.example/b.png)](https://c.example)',
    `<a href="https://c.example/" ${REL}><span class="image">a</span></a>`,
    `<a href="https://c.example/" ${REL}><img src="https://i.example/b.png" alt="a" loading="lazy" referrerpolicy="no-referrer"></a>`,
  ],
  [
    'over plain HTTP',
    '![a](http://i.example/b.png)',
    `<a class="image" href="http://i.example/b.png" ${REL}>a</a>`,
    `<a class="image" href="http://i.example/b.png" ${REL}>a</a>`,
  ],
  [
    'with a bad address',
    '*<img src="data:x" alt="a">*',
    '<em><span class="image">a</span></em>',
    '<em><span class="image">a</span></em>',
  ],
]
for (const [what, text, link, load] of images) {
  test(`an image ${what}`, () => {
    assert.equal(render(text, 'link'), `<p>${link}</p>`)
    assert.equal(render(text, 'load'), `<p>${load}</p>`)
  })
}

test('a README of another format is shown as it is', () => {
  assert.equal(
    render('# <b>', 'link', 'README.txt'),
    '<pre class="plain-text" tabindex="0"># &lt;b&gt;</pre>',
  )
  // Parts of a long one, which end with lines; a browser lays out those that are seen.
  const parts = render(`${'a'.repeat(4000)}\n`.repeat(2) + 'b'.repeat(6000), 'link', 'README.txt')
  assert.deepEqual(
    [...parts.matchAll(/<code>(.*?)<\/code>/gs)].map(([, part]) => part?.length),
    [4001, 4001, 5000, 1000],
  )
  assert.equal(render('# b', 'link', 'docs/README'), '<h2 id="user-content-b">b</h2>')
})

test('a long README is shown in full', () => {
  assert.ok(render(`${`${'a'.repeat(300)}\n\n`.repeat(1000)}end`).endsWith('<p>end</p>'))
})

for (const payload of [...PAYLOADS, PAYLOADS.join('\n\n')]) {
  test(`hostile: ${JSON.stringify(payload.slice(0, 70))}`, () => {
    for (const choice of ['link', 'load'] as const) assertHarmless(render(payload, choice))
  })
}

for (const [what, text] of Object.entries(BOMBS)) {
  test(`a README of ${what} takes little time and space`, () => {
    const html = frugally(() => render(text), what, 3000)
    assertHarmless(html)
    assert.ok(html.length < 4 * 1024 * 1024, `${html.length} characters`)
  })
}

const ALLOWED_ATTRIBUTES =
  /^(align|alt|aria-label|checked|class|colspan|dir|disabled|height|href|id|lang|loading|media|open|referrerpolicy|rel|reversed|role|rowspan|scope|span|src|srcset|start|tabindex|title|type|value|width|datetime)$/
const ALLOWED_TAGS =
  /^(h[2-6]|a|abbr|b|bd[io]|blockquote|br|caption|center|cite|code|col|colgroup|d[dlt]|del|details|dfn|div|em|figcaption|figure|hr|i|img|input|ins|kbd|li|mark|[ou]l|p|picture|pre|q|r[pt]|ruby|s|samp|section|small|source|span|strike|strong|su[bp]|summary|table|t[bfdhrt]|tbody|tfoot|thead|time|u|var|wbr)$/

/** Walks a browser's view of the HTML and finds only allowed parts, wherever they came from. */
function assertHarmless(html: string): void {
  const waiting = [...parseFragment(html).childNodes]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!('tagName' in node)) continue
    assert.match(node.tagName, ALLOWED_TAGS)
    for (const { name, value } of node.attrs) {
      assert.match(name, ALLOWED_ATTRIBUTES)
      if (name === 'href') assert.match(value, /^(https?:|mailto:|#user-content-)/)
      if (name === 'src' || name === 'srcset') assert.match(value, /^https?:/)
      if (name === 'id') assert.match(value, /^user-content-/)
      if (name === 'class')
        assert.match(
          value,
          /^((language|hljs|markdown-alert|footnote|footnotes|task)-?[a-z_-]*|[a-z]+_{1,2}|scroll|image|notice|plain-text|readme| )+$/,
        )
    }
    waiting.push(...node.childNodes)
  }
}

test('names of emoji become emoji, in text alone; very many take no time', () => {
  const html = markdown('## :rocket: Go\n\n:tada: `:tada:` :) :nothing: a:100:b [:tada:](x)')
  assert.match(html, /<h2[^>]*id="[^"]*rocket-go"[^>]*>🚀 Go/)
  assert.match(html, /🎉 <code>:tada:<\/code> :\) :nothing: a💯b <a [^>]*>🎉<\/a>/)
  for (const part of ['*:tada:*', ':', ':a', ':tada:'])
    frugally(() => markdown(part.repeat(60_000)), part)
})
