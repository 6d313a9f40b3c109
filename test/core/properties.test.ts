// Mirrors core: properties of a codec or parser for every input, beyond chosen examples.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import semver from 'semver'
import { parseEntry, readEntry } from '../../core/entry/parse.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { Refusal } from '../../core/error/error.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import { canonicalName, isName, parseName } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { parseRequirement, satisfies } from '../../core/requirement.ts'
import { parseQuery } from '../../core/search/words.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { expandDl } from '../../core/urls/download-url.ts'
import { withoutCredentials } from '../../core/urls/urls.ts'
import { compareVersions, isVersion, parseVersion } from '../../core/version.ts'

const RUNS = { numRuns: 300 }

const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,20}$/).filter(isName)
const number = fc.oneof(fc.nat(3), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER))
const identifier = fc.oneof(fc.stringMatching(/^[a-zA-Z-][a-zA-Z0-9-]{0,5}$/), number.map(String))
const version = fc
  .tuple(number, number, number, fc.array(identifier, { maxLength: 3 }))
  .map(([major, minor, patch, pre]) => {
    const end = pre.length > 0 ? `-${pre.join('.')}` : ''
    return parseVersion(`${major}.${minor}.${patch}${end}`)
  })
const dependency = fc
  .record({
    name,
    req: fc.constantFrom('^1', '*', '>=1.2, <3', '=1.0.0-rc.1'),
    features: fc.array(name, { maxLength: 3 }),
    optional: fc.boolean(),
    default_features: fc.boolean(),
    target: fc.option(fc.constantFrom('cfg(unix)', 'x86_64-unknown-linux-gnu')),
    kind: fc.constantFrom('normal', 'dev', 'build'),
  })
  // Cargo has no optional dev-dependencies.
  .map(dep => ({ ...dep, optional: dep.optional && dep.kind !== 'dev' }))
const entry = fc.record({
  name,
  vers: version,
  deps: fc.array(dependency, { maxLength: 3 }),
  cksum: fc.stringMatching(/^[0-9a-f]{64}$/),
  features: fc.dictionary(name, fc.array(name, { maxLength: 2 })),
  yanked: fc.boolean(),
  links: fc.option(name),
})
const line = entry.map(dep => JSON.stringify(dep))

test('text of any kind is read or refused, and nothing else', () => {
  const readers = [
    parseName,
    parseVersion,
    parseRequirement,
    parseEntry,
    parseManifest,
    parseQuery,
    (text: string) => resolveSettings({ file: { name: 'plimsoll.toml', text } }),
    (text: string) => parseManifest(`[package]\nname = "a"\nversion = "1.0.0"\n${text}`),
    (text: string) => resolveSettings({ env: { PLIMSOLL_LIMITS_CRATE_BYTES: text } }),
    (text: string) => resolveSettings({ flags: { 'server.listen': text } }),
  ]
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ maxLength: 200 }),
    fc.json(),
    line,
  )
  for (const read of readers)
    fc.assert(
      fc.property(text, input => {
        try {
          read(input)
        } catch (error) {
          assert.ok(error instanceof Refusal, String((error as Error).stack))
        }
      }),
      RUNS,
    )
})

test('an entry is the same after it was written and read', () => {
  fc.assert(
    fc.property(line, text => {
      const once = renderEntry(parseEntry(text))
      assert.equal(renderEntry(parseEntry(once)), once)
      assert.deepEqual(readEntry(once), parseEntry(once))
      assert.ok(!once.includes('\n'))
    }),
    RUNS,
  )
})

test('versions are in one order, that of semver', () => {
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      assert.equal(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)) || 0)
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
        assert.ok(compareVersions(a, c) <= 0)
      if (semver.valid(a) && semver.valid(b))
        assert.equal(Math.sign(compareVersions(a, b)), semver.compare(a, b))
    }),
    RUNS,
  )
})

test('a version satisfies itself, and what is below it does not satisfy what is above', () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.ok(satisfies(parseRequirement(`=${a}`), a))
      if (compareVersions(a, b) < 0) {
        assert.ok(!satisfies(parseRequirement(`>=${b}`), a))
        assert.ok(!satisfies(parseRequirement(`<${a}`), b))
      }
      assert.ok(isVersion(a))
    }),
    RUNS,
  )
})

test('no name of a crate leads out of its folder', () => {
  const isInside = (path: string) =>
    path.split('/').every(part => part !== '' && !/^\.|[\\\0]/.test(part))
  fc.assert(
    fc.property(name, crate => {
      const parsed = parseName(crate)
      assert.ok(isInside(indexPath(parsed)))
      assert.ok(isInside(crateKey(parsed, '0'.repeat(64))))
      assert.equal(canonicalName(parsed), canonicalName(parseName(crate.toUpperCase())))
    }),
    RUNS,
  )
})

test('what is put into a URL stays as it is, and passwords never stay in one', () => {
  const secret = fc.stringMatching(/^[a-z0-9]{12}$/)
  fc.assert(
    fc.property(name, version, secret, (crate, vers, word) => {
      const url = expandDl('https://h/{crate}/{version}', {
        name: parseName(crate),
        version: vers,
        cksum: '',
      })
      assert.equal(url, `https://h/${crate}/${vers}`)
      for (const text of [`https://${word}@h/x`, `http://u:${word}@h:80`, `git+ssh://u:${word}@h`])
        assert.ok(!withoutCredentials(`see ${text}.`).includes(word), text)
    }),
    RUNS,
  )
})

test('a timestamp has whole seconds and is the time it was made of', () => {
  const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(time, date => {
      const text = timestamp(date)
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      assert.equal(Date.parse(text), Math.floor(date.getTime() / 1000) * 1000)
    }),
    RUNS,
  )
})
