import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasBidiControls, isolated } from '../../core/text.ts'

test('a text with bidi controls is isolated from what follows, whatever it opens or closes', () => {
  for (const text of ['plain', 'مرحبا', '']) assert.equal(isolated(text), text)
  const rows: [given: string, shown: string][] = [
    ['a\u202eb', '\u2068a\u202eb\u2069'],
    ['\u2069\u202eb', '\u2068\u202eb\u2069'],
    ['\u2067a\u2066b', '\u2068\u2067a\u2066b\u2069\u2069\u2069'],
    ['\u200fa', '\u2068\u200fa\u2069'],
  ]
  for (const [given, shown] of rows) {
    assert.equal(hasBidiControls(given), true)
    assert.equal(isolated(given), shown)
  }
})
