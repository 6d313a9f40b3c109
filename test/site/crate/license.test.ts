import assert from 'node:assert/strict'
import { test } from 'node:test'
import { licenseText } from '../../../site/crate/license.ts'
import { html } from '../../../site/elements/markup.ts'
import { version } from '../../support/demo-config.ts'

/** The license of a version with these license texts, with `[text → file]` for a link. */
function shown(license: string | null, licenses: string[], file: string | null = null): string {
  const contents = { files: 1, bytes: 1, rust: { files: 0, code_lines: 0, comment_lines: 0 } }
  const data = version({
    license,
    license_file: file,
    contents: { ...contents, licenses },
  })
  const text = `${html`${licenseText({ source: true }, data, path => path)}`}`
  return text.replace(/<a href="[^"]*\/src\/index.html#([^"]*)">([^<]*)<\/a>/g, '[$2 → $1]')
}

test('the parts of an expression link to their texts', () => {
  const both = ['LICENSE-APACHE', 'LICENSE-MIT']
  assert.equal(
    shown('MIT OR Apache-2.0', both),
    '[MIT → LICENSE-MIT] OR [Apache-2.0 → LICENSE-APACHE]',
  )
  assert.equal(
    shown('(MIT/Apache-2.0) AND Zlib', both),
    '([MIT → LICENSE-MIT]/[Apache-2.0 → LICENSE-APACHE]) AND Zlib',
  )
  const wasm = ['LICENSE-Apache-2.0_WITH_LLVM-exception', 'LICENSE-APACHE2']
  assert.match(shown('Apache-2.0 WITH LLVM-exception', wasm), /^\[Apache-2.0 → LICENSE-APACHE2\] W/)
  assert.equal(shown('BSL-1.0', ['LICENSE-BOOST']), '[BSL-1.0 → LICENSE-BOOST]')
  assert.equal(shown('Unlicense', ['UNLICENSE']), '[Unlicense → UNLICENSE]')
})

test('a text that does not say which license it is belongs to the whole expression', () => {
  assert.equal(shown('MPL-2.0', ['LICENSE.md']), '[MPL-2.0 → LICENSE.md]')
  assert.equal(shown('MIT OR Apache-2.0', ['COPYING']), '[MIT OR Apache-2.0 → COPYING]')
  assert.equal(shown('MPL-2.0', ['LICENSE-THIRDPARTY']), 'MPL-2.0')
})

test('a license file links to itself, and nothing that does not exist is linked', () => {
  assert.equal(shown(null, ['LICENSE.txt'], 'LICENSE.txt'), '[LICENSE.txt → LICENSE.txt]')
  assert.equal(shown(null, [], 'legal/TERMS'), 'legal/TERMS')
  const odd = './legal/Our terms #1'
  assert.equal(
    shown(null, ['LICENSE', odd.slice(2)], odd),
    '[legal/Our terms #1 → legal/Our%20terms%20%231]',
  )
  assert.equal(shown('MIT', ['EULA.pdf'], 'EULA.pdf'), '[MIT → EULA.pdf]')
  assert.equal(shown(null, ['LICENSE']), 'not stated')
  const single = version({ license: 'MIT' })
  assert.equal(
    licenseText({ source: false }, single, path => path),
    'MIT',
  )
})

test('a hostile expression is text', () => {
  assert.equal(shown('<b>MIT', ['LICENSE-MIT']), '&lt;b&gt;[MIT → LICENSE-MIT]')
  assert.equal(shown('MIT OR '.repeat(50), ['LICENSE-MIT']), 'MIT OR '.repeat(50))
})
