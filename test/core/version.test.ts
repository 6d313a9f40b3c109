import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { crateFile } from '../../core/paths/crates.ts'
import {
  compareVersions,
  highestVersion,
  isPrerelease,
  isVersion,
  newestVersion,
  parseVersion,
  versionIdentity,
} from '../../core/version.ts'

const refused = [
  ...['', ' 1.0.0', '1.0.0 ', '1.0.0\n', '1.0.0/../x'],
  ...'v1.0.0 =1.0.0 01.0.0 1.02.0 1.0 1 1.0.0- 1.0.0-a..b 1.0.0-01 1.0.0+ 1.0.0+a..b'.split(' '),
  ...'1.0.0+a+b 1.0.0-ä 18446744073709551616.0.0'.split(' '),
]
for (const text of refused) {
  test(`no version: ${JSON.stringify(text)}`, () => {
    assert.equal(isVersion(text), false)
    assert.throws(
      () => parseVersion(text),
      error => error instanceof Refusal && error.issues[0].code === 'version_invalid',
    )
  })
}

test('a version is as long as the file name of its `.crate` lets it be', () => {
  const version = `1.0.0-${'a'.repeat(178)}`
  assert.ok(isVersion(version))
  const file = crateFile(parseName('n'.repeat(64)), parseVersion(version))
  assert.equal(file.length, 255)
  assert.equal(isVersion(`${version}a`), false)
  assert.throws(() => parseVersion(`${version}a`), /has 185 characters; at most 184 are allowed/)
})

/** Ascending precedence: SemVer §11, then numbers beyond what a double holds. */
const ascending = [
  ...['0.0.0-0', '0.0.0', '1.0.0-2', '1.0.0-9007199254740993', '1.0.0-9007199254740994'],
  ...['1.0.0-99999999999999999999', '1.0.0--', '1.0.0-alpha', '1.0.0-alpha.1'],
  ...['1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0'],
  ...['1.0.9', '1.0.10', '2.0.0', '9007199254740992.0.0', '9007199254740993.0.0'],
  ...['18446744073709551615.0.0'],
].map(parseVersion)

test('versions order exactly', () => {
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) {
      assert.equal(Math.sign(compareVersions(a, b)), Math.sign(i - j), `${a} against ${b}`)
    }
  }
})

test('build metadata is not part of the identity nor of the order', () => {
  const a = parseVersion('1.0.0-rc.1+linux.2026')
  const b = parseVersion('1.0.0-rc.1+windows')
  assert.equal(versionIdentity(a), '1.0.0-rc.1')
  assert.equal(versionIdentity(a), versionIdentity(b))
  assert.equal(compareVersions(a, b), 0)
})

test('a hyphen in the build metadata makes no pre-release', () => {
  assert.equal(isPrerelease(parseVersion('1.0.0+a-b')), false)
  assert.equal(isPrerelease(parseVersion('1.0.0-a+b')), true)
})

test('the newest version is the highest stable one that is not yanked', () => {
  const release = (text: string, yanked = false) => ({ version: parseVersion(text), yanked })
  assert.equal(newestVersion([]), undefined)
  assert.equal(
    newestVersion([release('1.0.0'), release('2.0.0-rc.1'), release('1.9.0', true)])?.version,
    '1.0.0',
  )
  assert.equal(
    newestVersion([release('1.0.0', true), release('2.0.0-rc.1')])?.version,
    '2.0.0-rc.1',
  )
  assert.equal(newestVersion([release('1.0.0', true), release('0.9.0', true)])?.version, '1.0.0')
})

test('the highest version may be a pre-release, and is yanked only if all are', () => {
  const release = (text: string, yanked = false) => ({ version: parseVersion(text), yanked })
  const highest = (...releases: ReturnType<typeof release>[]) => highestVersion(releases)?.version
  assert.equal(highest(), undefined)
  assert.equal(
    highest(release('1.0.0'), release('2.0.0-rc.1'), release('3.0.0', true)),
    '2.0.0-rc.1',
  )
  assert.equal(highest(release('2.0.0'), release('2.0.0-rc.1')), '2.0.0')
  assert.equal(highest(release('1.0.0', true), release('1.0.1-a', true)), '1.0.1-a')
})
