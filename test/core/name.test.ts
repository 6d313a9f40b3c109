import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { canonicalName, isName, lowerPrefix, parseName, prefix } from '../../core/name.ts'

const good: [name: string, canonical: string, prefix: string, lowerPrefix: string][] = [
  ['a', 'a', '1', '1'],
  ['Ab', 'ab', '2', '2'],
  ['Abc', 'abc', '3/A', '3/a'],
  ['cargo', 'cargo', 'ca/rg', 'ca/rg'],
  ['Foo-Bar_2', 'foo_bar_2', 'Fo/o-', 'fo/o-'],
  ['x'.repeat(64), 'x'.repeat(64), 'xx/xx', 'xx/xx'],
]
for (const [text, canonical, tier, lowerTier] of good) {
  test(`the name ${text}`, () => {
    const name = parseName(text)
    assert.equal(canonicalName(name), canonical)
    assert.equal(prefix(name), tier)
    assert.equal(lowerPrefix(name), lowerTier)
    assert.ok(isName(text))
  })
}

const bad: [text: string, code: string][] = [
  ['', 'name_empty'],
  ['1abc', 'name_start'],
  ['-abc', 'name_start'],
  ['_abc', 'name_start'],
  ['a b', 'name_character'],
  ['a/../b', 'name_character'],
  ['a\n', 'name_character'],
  ['a\0', 'name_character'],
  ['naïve', 'name_character'],
  ['a{version}', 'name_character'],
  ['x'.repeat(65), 'name_too_long'],
]
for (const [text, code] of bad) {
  test(`no name: ${JSON.stringify(text)}`, () => {
    assert.equal(isName(text), false)
    assert.throws(
      () => parseName(text),
      error => error instanceof Refusal && error.issues[0].code === code,
    )
  })
}
