import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { meaning, parseRequirement, satisfies } from '../../core/requirement.ts'
import { parseVersion, type Version } from '../../core/version.ts'
import { root } from '../support/plimsoll.ts'
import { frugally } from '../support/processor-time.ts'

const FIXTURE = join(root, 'test', 'fixtures', 'requirements.txt')

const rows = readFileSync(FIXTURE, 'utf8')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => line.split(' | '))
const versions = (rows.shift()?.[2] ?? '').split(' ').map(parseVersion)

test('requirements print and match as the semver crate has it', () => {
  assert.equal(rows.length, 68)
  for (const [text = '', printed, matching] of rows) {
    const requirement = parseRequirement(text)
    assert.equal(requirement, printed, text)
    assert.equal(versions.filter(v => satisfies(requirement, v)).join(' '), matching, text)
  }
})

// Exact arithmetic: 2^53 and 2^53 + 1 are one number to a double.
const BEYOND_DOUBLES: [requirement: string, version: string, matches: boolean][] = [
  ['=9007199254740993', '9007199254740993.0.0', true],
  ['=9007199254740993', '9007199254740992.0.0', false],
  ['>9007199254740992', '9007199254740993.0.0', true],
  ['>9007199254740992', '9007199254740992.5.0', false],
  ['^1.9007199254740993', '1.9007199254740992.7', false],
  ['^0.9007199254740993', '0.9007199254740994.0', false],
  ['~1.9007199254740993.1', '1.9007199254740993.2', true],
  ['=1.0.0-rc.9007199254740993', '1.0.0-rc.9007199254740992', false],
  ['>=1.0.0-rc.9007199254740993', '1.0.0-rc.9007199254740994', true],
  ['<18446744073709551615', '18446744073709551614.9.9', true],
]

test('numbers beyond the exact range of doubles match exactly', () => {
  for (const [requirement, version, matches] of BEYOND_DOUBLES)
    assert.equal(
      satisfies(parseRequirement(requirement), parseVersion(version)),
      matches,
      `${requirement} ${version}`,
    )
})

test('a version too long to be compared counts as a match', () => {
  // Registries may have such versions from before there was a limit.
  const long = `1.0.0-${'a'.repeat(300)}` as Version
  assert.ok(satisfies(parseRequirement('^2'), long))
})

test('a printed requirement prints as itself', () => {
  for (const [, printed = ''] of rows) assert.equal(parseRequirement(printed), printed)
})

const REFUSED = [
  ...['', ' ', '\t1', '1.0\n', '1\u00a0', '１', '9'.repeat(400)],
  ...'latest v1 V1.0 =v1.0 1||2 ==1 =>1 ~>1.2 !=1 <>1 1. .1 1..2 1.2. 1.2.3.4 1.2.3-'.split(' '),
  ...'1.2.3+ 1.2.3-01 1.2-beta 1-beta 1.2.3-β 1.*-beta 1.2.*-beta 1.2.*+b 1.*.3 0.2*'.split(' '),
  ...'** *.* *.1 x.1 >* ^* =* *,1 1,* 01 1.02 1.0.00 -1 +1 1, ,1 1,,2'.split(' '),
  ...'18446744073709551616 1.18446744073709551616 1.0.18446744073709551616'.split(' '),
  ...['1 - 2', '1.0 - 2.0', '>=1 <2', '^1 ^2', '1 || 2', '> = 1', '1.2.3 beta', '>= *'],
]

test('what only other tools understand is refused', () => {
  for (const text of REFUSED) {
    assert.throws(
      () => parseRequirement(text),
      (error: unknown) => error instanceof Refusal && error.has('requirement_invalid'),
      JSON.stringify(text),
    )
  }
})

test('requirements that allow the same have one meaning', () => {
  const of = (text: string) => meaning(parseRequirement(text))
  assert.equal(of('^1.0'), of('>=1.0.0, <2.0.0'))
  assert.equal(of('>=1, <2'), of('>=1.0.0, <2.0.0'))
  assert.notEqual(of('^1.0'), of('>=1.0.0'))
  assert.notEqual(of('^1.0.0-rc.1'), of('^1.0.0'))
  assert.equal(of('^18446744073709551615'), '^18446744073709551615')
})

test('32 comparators are read, 33 are not', () => {
  const many = (count: number) => Array.from({ length: count }, () => '>=1').join(', ')
  assert.equal(parseRequirement(many(32)), many(32))
  assert.throws(() => parseRequirement(many(33)), Refusal)
})

test('long hostile text is refused in a moment', () => {
  const hostile = [
    ' '.repeat(1e5),
    `1.0.0-${'a.'.repeat(5e4)}`,
    `1.0.0-${'1'.repeat(1e5)}_`,
    `${','.repeat(1e5)}`,
  ]
  for (const text of [...hostile, `1.0.0+${'a-'.repeat(5e4)}!`, `^${' '.repeat(1e5)}x`]) {
    frugally(() => assert.throws(() => parseRequirement(text), Refusal))
  }
})
