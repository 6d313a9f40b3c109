import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseRule } from '../../../core/upstream/rules.ts'
import { parseVersion } from '../../../core/version.ts'

test('a rule is a name, a version, a requirement or a prefix', () => {
  const rows: [rule: string, matching: string[], others: string[]][] = [
    ['foo', ['foo@1.0.0', 'FOO@2.0.0-a'], ['foo-bar@1.0.0']],
    ['foo_bar', ['foo-bar@1.0.0'], ['foo@1.0.0']],
    ['foo@1.2.3', ['foo@1.2.3'], ['foo@1.2.4', 'foo@1.2.3+x']],
    ['foo@<1.2.3', ['foo@1.2.2', 'foo@0.1.0'], ['foo@1.2.3', 'bar@1.0.0']],
    ['foo@1.2', ['foo@1.9.0'], ['foo@2.0.0', 'foo@1.1.9']],
    ['foo-*', ['foo-@1.0.0', 'foo_bar@1.0.0'], ['foo@1.0.0', 'bar@1.0.0']],
  ]
  for (const [text, matching, others] of rows) {
    const rule = parseRule(text) ?? assert.fail(text)
    assert.equal(rule.text, text)
    for (const spec of [...matching, ...others]) {
      const [name = '', version = ''] = spec.split('@')
      const isMatching = rule.matches(parseName(name), parseVersion(version))
      assert.equal(isMatching, matching.includes(spec), `${text} ${spec}`)
    }
  }
})

test('no other text is a rule', () => {
  for (const text of ['', '*', '@1', 'a b', 'foo@', 'foo@1 2', 'foo*bar', '*foo', 'é', 'a**'])
    assert.equal(parseRule(text), null, text)
})
