import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Advisory,
  covers,
  isAbout,
  isAtLeast,
  labelOf,
} from '../../../core/advisory/advisory.ts'
import { osvOf, parseOsv } from '../../../core/advisory/osv.ts'
import { parseRustSec } from '../../../core/advisory/rustsec.ts'
import { CRATES_IO } from '../../../core/index-url.ts'
import { parseVersion } from '../../../core/version.ts'
import { osvFile, rustSecFile } from '../../support/advisories.ts'

/** What the crate `rustsec` 0.33 says (`Versions::is_vulnerable`), one requirement or more each. */
const MATCHING: readonly (readonly [safe: string, covered: string, free: string])[] = [
  ['>= 1.2.3', '0.0.0-0 1.2.2 1.2.3-rc.1 1.2.3-0+x', '1.2.3 1.2.3+build 1.2.4-0 2.0.0'],
  ['> 0.7.19', '0.7.19 0.7.19+9', '0.7.20-0 0.7.20 1.0.0-alpha'],
  ['> 1.2', '1.2.0 1.2.0+x', '1.2.1 1.3.0'],
  ['< 1.0.0-rc.1', '1.0.0-rc.1 1.0.0-rc.1.0 1.0.0', '1.0.0-beta 1.0.0-rc.0 0.9.0'],
  ['<= 0.1.2', '0.1.3-0 0.1.3', '0.1.2 0.1.2+x 0.1.2-rc.1 0.0.0'],
  ['= 1.0.0-rc.2', '1.0.0-rc.1 1.0.0-rc.2.0 1.0.0', '1.0.0-rc.2 1.0.0-rc.2+b'],
  ['= 1.2', '1.2.1 1.1.9 1.2.1-0', '1.2.0'],
  [
    '^ 2.2.1; >= 3.0.0-beta.9',
    '2.2.0 3.0.0-0 3.0.0-beta.8',
    '2.2.1 2.9.9 2.3.0-rc.1 3.0.0-beta.9 4.0.0',
  ],
  ['^0.3', '0.2.9 0.3.0-rc.1 0.4.0-0 0.4.0', '0.3.0 0.3.9 0.3.1-0'],
  ['^0.0.3', '0.0.2 0.0.4-0 0.0.4', '0.0.3 0.0.3+x'],
  ['^0', '1.0.0-0 1.0.0', '0.0.0 0.9.9 0.1.0-rc.1'],
  ['^0.0', '0.1.0-0 0.1.0', '0.0.0 0.0.9'],
  ['~1.2', '1.1.9 1.3.0-0 1.3.0', '1.2.0 1.2.9 1.2.1-rc.1'],
  ['~1', '0.9.9 2.0.0-0', '1.0.0 1.9.9'],
  [
    '>= 4.1.2; >= 4.0.1, < 4.1.0; >= 3.3.1, < 4.0.0',
    '3.3.0 4.0.0 4.1.0 4.1.1',
    '3.3.1 3.9.0 4.0.0-rc.1 4.0.1 4.1.0-rc.1 4.1.2',
  ],
  [
    '>= 0.7.1, < 0.8; >= 0.8.2, < 0.9; >= 0.9.0',
    '0.7.0 0.8.0 0.8.1',
    '0.7.1 0.8.0-rc.1 0.8.2 0.9.0',
  ],
  ['< 2', '2.0.0 3.0.0', '2.0.0-rc.1 1.0.0'],
  ['*', '', '0.0.0-0 1.0.0'],
  ['', '0.0.0-0 0.0.0 1.0.0+x 18446744073709551615.0.0', ''],
  ['>= 1.9007199254740993.0', '1.9007199254740992.9', '1.9007199254740993.0'],
]

function only(advisories: readonly Advisory[]): Advisory {
  const [first, ...others] = advisories
  assert.ok(first)
  assert.equal(others.length, 0)
  return first
}

test('an advisory covers the versions that rustsec says', () => {
  const versions = (text: string) => text.split(' ').filter(Boolean).map(parseVersion)
  for (const [safe, covered, free] of MATCHING) {
    const patched = safe.split('; ').filter(Boolean)
    const read = only(parseRustSec(rustSecFile({ patched })))
    const again = only(parseOsv(JSON.stringify(osvOf([read]))))
    for (const advisory of [read, again]) {
      for (const version of versions(covered))
        assert.ok(covers(advisory, version), `${safe} ${version}`)
      for (const version of versions(free))
        assert.ok(!covers(advisory, version), `${safe} ${version}`)
    }
    assert.deepEqual(again, read, safe)
  }
})

test('requirements that are unaffected count as those that are patched', () => {
  const file = rustSecFile({
    patched: ['>= 0.23.18'],
    unaffected: ['>= 0.23, < 0.23.13', '< 0.23'],
  })
  assert.deepEqual(only(parseRustSec(file)).ranges, [{ introduced: '0.23.13', fixed: '0.23.18' }])
})

test('events of OSV are ranges: empty ones, last affected versions, other orders', () => {
  const rangesOf = (events: object[], versions: string[] = []) =>
    only(parseOsv(osvFile({ events, versions }))).ranges.map(
      ({ introduced, fixed }) => `${introduced} ${fixed}`,
    )
  assert.deepEqual(rangesOf([{ introduced: '0' }]), ['0.0.0-0 null'])
  assert.deepEqual(rangesOf([{ introduced: '1.0.0' }, { fixed: '1.0.0' }]), [])
  assert.deepEqual(rangesOf([{ introduced: '1.0.0' }, { last_affected: '1.2.0' }]), [
    '1.0.0 1.2.1-0',
  ])
  assert.deepEqual(
    rangesOf([
      { fixed: '1.0.0' },
      { introduced: '2.0.0' },
      { introduced: '0' },
      { fixed: '2.1.0' },
    ]),
    ['0.0.0-0 1.0.0', '2.0.0 2.1.0'],
  )
  assert.deepEqual(rangesOf([], ['1.0.0', '2.0.0-rc.1']), [
    '1.0.0 1.0.1-0',
    '2.0.0-rc.1 2.0.0-rc.1.0',
  ])
})

test('what was withdrawn, or is about Rust or other ecosystems, is no advisory', () => {
  assert.deepEqual(parseRustSec(rustSecFile({ more: 'withdrawn = "2026-01-02"' })), [])
  assert.deepEqual(parseRustSec(rustSecFile({ more: 'collection = "rust"' })), [])
  assert.deepEqual(parseOsv(osvFile({ withdrawn: '2026-01-02T00:00:00Z' })), [])
  assert.deepEqual(parseOsv(osvFile({ ecosystem: 'npm' })), [])
})

test('an own crate is matched by its registry alone, and never by a public namesake', () => {
  const own = ['sparse+https://crates.example/index/', 'https://crates.example/index.git']
  const publicOne = only(parseRustSec(rustSecFile({})))
  const ownOne = only(parseRustSec(rustSecFile({ more: `source = "registry+${own[1]}"` })))
  assert.ok(isAbout(publicOne, 'DEMO', [CRATES_IO]))
  assert.ok(isAbout(publicOne, 'demo', ['sparse+https://index.crates.io/']))
  assert.ok(!isAbout(publicOne, 'demo', own))
  assert.ok(isAbout(ownOne, 'demo', own))
  assert.ok(!isAbout(ownOne, 'demo', [CRATES_IO]))
  assert.ok(!isAbout(ownOne, 'other', own))
  const named = only(parseRustSec(rustSecFile({ more: `source = "registry+${CRATES_IO}"` })))
  assert.ok(isAbout(named, 'demo', [CRATES_IO]))
  const again = only(parseOsv(JSON.stringify(osvOf([ownOne]))))
  assert.equal(again.source, ownOne.source)
})

/** Vectors with the scores that FIRST's calculator and the crate `cvss` print. */
const SCORES: readonly (readonly [vector: string, label: string | null])[] = [
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 'critical'],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 'critical'],
  ['CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 'medium'],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H', 'high'],
  ['CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N', 'low'],
  ['CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:N/I:N/A:N', 'none'],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', null],
  ['CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', null],
  ['9.8', null],
]

test('a vector of CVSS 3 has its label, and anything else counts as high', () => {
  for (const [cvss, label] of SCORES) assert.equal(labelOf({ cvss }), label, cvss)
  assert.ok(isAtLeast({ cvss: null }, 'high'))
  assert.ok(!isAtLeast({ cvss: null }, 'critical'))
  assert.ok(!isAtLeast({ cvss: 'CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:N/I:N/A:N' }, 'low'))
})

test('what a file of OSV says of one package in several items is one advisory', () => {
  const file = JSON.parse(osvFile({ events: [{ introduced: '1.0.0' }, { fixed: '1.2.0' }] }))
  const ranges = [{ type: 'SEMVER', events: [{ introduced: '2.0.0' }, { fixed: '2.1.0' }] }]
  const later = { ...file.affected[0], ranges }
  const other = { ...later, package: { ...later.package, name: 'other' } }
  const [first, second, ...more] = parseOsv(
    JSON.stringify({ ...file, affected: [file.affected[0], later, other] }),
  )
  assert.deepEqual(
    ['1.1.0', '1.2.0', '2.0.0', '2.1.0'].map(text => first && covers(first, parseVersion(text))),
    [true, false, true, false],
  )
  assert.deepEqual([second?.package, more], ['other', []])
})
