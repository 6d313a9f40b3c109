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
    ['foo@1.2.3+x', ['foo@1.2.3+x'], ['foo@1.2.3']],
    ['foo@ 1.2.3 ', ['foo@1.2.3'], ['foo@1.2.4', 'foo@1.2.3+x']],
    ['foo@<1.2.3', ['foo@1.2.2', 'foo@0.1.0'], ['foo@1.2.3', 'bar@1.0.0', 'foo@1.2.2-a']],
    ['foo@1.2', ['foo@1.9.0'], ['foo@2.0.0', 'foo@1.1.9']],
    ['foo-*', ['foo-@1.0.0', 'foo_bar@1.0.0'], ['foo@1.0.0', 'bar@1.0.0']],
  ]
  for (const [text, matching, others] of rows) assertRule('allow', text, matching, others)
})

test('a rule that forbids takes in builds and pre-releases, by precedence', () => {
  const rows: [rule: string, matching: string[], others: string[]][] = [
    ['foo@1.2.3', ['foo@1.2.3', 'foo@1.2.3+x', 'FOO@1.2.3+y.1'], ['foo@1.2.4', 'foo@1.2.3-a']],
    ['foo@1.2.3-a+x', ['foo@1.2.3-a', 'foo@1.2.3-a+y'], ['foo@1.2.3']],
    [
      'foo@<0.10.60',
      ['foo@0.10.59-rc.1', 'foo@0.10.60-rc.1+b', 'foo@0.0.0-0', 'foo@0.10.59+z'],
      ['foo@0.10.60', 'foo@0.10.60+a', 'foo@0.11.0-a', 'bar@0.1.0'],
    ],
    ['foo@<2', ['foo@2.0.0-rc.1', 'foo@1.9.9'], ['foo@2.0.0', 'foo@2.0.1-a']],
    ['foo@<=1.2', ['foo@1.2.9-a', 'foo@1.2.9'], ['foo@1.3.0']],
    ['foo@>=1.2, <1.3.4', ['foo@1.2.0-a', 'foo@1.3.4-a'], ['foo@1.3.4', 'foo@1.1.9']],
    ['foo@>1.2.3', ['foo@1.2.4-a', 'foo@2.0.0-a'], ['foo@1.2.3', 'foo@1.2.3-a']],
    ['foo@^1.2.3', ['foo@1.3.0-a', 'foo@1.2.3+x'], ['foo@1.2.3-a', 'foo@2.0.0']],
    ['foo@1', ['foo@1.0.0-a', 'foo@1.2.3-beta'], ['foo@0.9.0', 'foo@2.0.0']],
    ['foo@=1.2', ['foo@1.2.0-a', 'foo@1.2.3-b'], ['foo@1.3.0']],
    ['foo@~1.2.3', ['foo@1.2.4-a'], ['foo@1.3.0']],
    ['foo@1.*', ['foo@1.0.0-a'], ['foo@2.0.0']],
    ['foo@*', ['foo@1.0.0-a', 'foo@18446744073709551615.0.0-a+x'], ['bar@1.0.0']],
    ['foo@<18446744073709551615.0.0', ['foo@18446744073709551615.0.0-a'], []],
  ]
  for (const [text, matching, others] of rows) assertRule('deny', text, matching, others)
})

function assertRule(list: 'allow' | 'deny', text: string, matching: string[], others: string[]) {
  const rule = parseRule(text, list) ?? assert.fail(text)
  assert.equal(rule.text, text)
  for (const spec of [...matching, ...others]) {
    const [name = '', version = ''] = spec.split('@')
    const isMatching = rule.matches(parseName(name), parseVersion(version))
    assert.equal(isMatching, matching.includes(spec), `${text} ${spec}`)
  }
}

test('no other text is a rule', () => {
  for (const text of ['', '*', '@1', 'a b', 'foo@', 'foo@1 2', 'foo*bar', '*foo', 'é', 'a**'])
    assert.equal(parseRule(text, 'deny'), null, text)
})
