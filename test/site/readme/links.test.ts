import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderIllustrated } from '../../../generator/sandbox/image-task.ts'
import { renderReadme } from '../../../site/readme/readme.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const REL = 'rel="nofollow noopener noreferrer"'
const render = (text: string, repository: string | null = null) => {
  const about = { readme_file: 'README.md', repository }
  const { html } = renderReadme({ text, about, images: 'link' })
  return html.replace(/^<div class="readme">|<\/div>$/g, '').trim()
}

test('links to files of the package, pictures that cannot be shown included, lead to its sources', async t => {
  const text = `[a](LICENSE) [b](./docs/b%20c.md#x) [c](/src/lib.rs "t") [d](absent.md) [e](../out)
[f](javascript:alert(1)) [g](docs) [h](Type::new) [i](#i) <a href="docs/b c.md">j</a> [k]
![l](LICENSE) ![m](absent.png)

[k]: src/lib.rs#L3-L9`
  const files = { 'docs/README.md': text, LICENSE: 'x', 'docs/b c.md': 'x', 'src/lib.rs': '' }
  const path = writeCrate(`${folderOf(t)}/demo-1.0.0.crate`, {
    name: 'demo',
    version: '1.0.0',
    files,
  })
  const crate = { path, unpackedBytes: 1_000_000 }
  const links = async (repository: string | null, source: boolean, readme_file = 'README.md') => {
    const readme = { text, about: { readme_file, repository }, images: 'link' as const }
    const { html } = await renderIllustrated({ readme, crate, source })
    return [...html.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(\w)<\/a>/g)].map(
      ([, to, of]) => `${of} ${to}`,
    )
  }
  const own = ['a src/#LICENSE', 'b src/#docs/b%20c.md', 'c src/#src/lib.rs', 'i #user-content-i']
  const all = [...own, 'j src/#docs/b%20c.md', 'k src/#src/lib.rs:L3-L9', 'l src/#LICENSE']
  for (const repository of [null, 'https://git.corp.example/a/b', 'https://github.com'])
    assert.deepEqual(await links(repository, true), all, String(repository))
  assert.deepEqual(await links(null, false), ['i #user-content-i'])
  assert.deepEqual(await links(null, true, 'docs/README.md'), [
    'c src/#src/lib.rs',
    'i #user-content-i',
  ])
  assert.match(
    (await links('https://github.com/a/b', true)).join(),
    /a https:\/\/github\.com\/a\/b\//,
  )
})

test('nothing that takes the focus is in a link or a summary', () => {
  const text = `<details open><summary>A <a href="https://a.example/">b</a> <b>c</b>
<p>d</p><pre>e</pre>
<a href="https://a.example/">f</a></summary>g</details>
<a href="https://a.example/">h <details><summary>i</summary>j</details></a>
<a href="https://a.example/" id="k"><div><pre>k</pre></div></a> <a href="https://a.example/">l</a>
<a href="https://a.example/"><b></b></a>`
  const link = (text: string) => `<a href="https://a.example/" ${REL}>${text}</a>`
  assert.equal(
    render(text),
    `<details open=""><summary>A b <b>c</b>
<p>d</p></summary><pre tabindex="0">e</pre>
${link('f')}g</details>
h <details><summary>i</summary>j</details>
<a id="user-content-k" ${REL}><div><pre tabindex="0">k</pre></div></a> ${link('l')}
<b></b>`,
  )
})

test('a refused scheme shows the text of its link, and of its image', () => {
  for (const scheme of ['javascript:alert(1)', 'vbscript:x', 'file:///etc', 'data:text/html,x']) {
    assert.equal(render(`[text](${scheme})`), '<p>text</p>', scheme)
    assert.equal(render(`![text](${scheme})`), '<p><span class="image">text</span></p>', scheme)
    assert.equal(render(`[text][1]\n\n[1]: <${scheme}>`), '<p>text</p>', scheme)
  }
  assert.equal(render('<javascript:alert(1)>'), '<p>javascript:alert(1)</p>')
  assert.equal(render('[x](https://x.example)'), `<p><a href="https://x.example/" ${REL}>x</a></p>`)
})

test('lists and tables take their direction from their text', () => {
  const text = '- a\n  - b\n\n1. c\n\n| d |\n|---|\n| e |\n\n<ul dir="rtl"><li>f</ul>'
  const found = [...render(text).matchAll(/<(ul|ol|table)( dir="\w+")?/g)]
  assert.deepEqual(
    found.map(([, tag, dir]) => `${tag}${dir}`),
    ['ul dir="auto"', 'ul dir="auto"', 'ol dir="auto"', 'table dir="auto"', 'ul dir="rtl"'],
  )
})

test('only a link has the name that its author gave it', () => {
  assert.equal(render('<a id="x" aria-label="y">z</a>'), '<p><a id="user-content-x">z</a></p>')
  assert.match(render('<a href="https://x.example" aria-label="y">z</a>'), / aria-label="y"/)
})
