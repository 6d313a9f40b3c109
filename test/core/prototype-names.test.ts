// Mirrors core/release/release.ts: names that objects have by themselves
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderEntry } from '../../core/entry/entry.ts'
import { checkFeatures } from '../../core/entry/features.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import { canonicalName } from '../../core/name.ts'
import { makeRelease } from '../../core/release/release.ts'
import { termsOf } from '../../core/search/terms.ts'
import { ContentsCount } from '../../core/tarball/contents.ts'
import { parseVersion } from '../../core/version.ts'

/** `constructor`, `__proto__`, `toString`, … */
const NAMES = Object.getOwnPropertyNames(Object.prototype)
const CRATES = NAMES.filter(name => /^[a-z]/i.test(name))

test('names of Object.prototype are features, dependencies and keywords like any other', () => {
  const manifest = parseManifest(
    [
      '[package]\nname = "constructor"\nversion = "1.0.0"',
      `keywords = ${JSON.stringify(NAMES)}`,
      '[dependencies]',
      ...CRATES.map(name => `${name} = { version = "1", optional = true }`),
      '[features]',
      ...NAMES.map(name => `${name} = ["x"${CRATES.includes(name) ? `, "dep:${name}"` : ''}]`),
      'x = []',
    ].join('\n'),
  )
  const archive = {
    name: manifest.name,
    version: parseVersion('1.0.0'),
    manifest: '',
    files: [],
    contents: new ContentsCount().contents,
    vcsPath: null,
    warnings: [],
  }
  const file = { cksum: '0'.repeat(64), size: 1, pubtime: null, ownIndexUrls: new Set<string>() }
  const { entry, about } = makeRelease({ archive, manifest, readme: null, ...file })
  assert.deepEqual(checkFeatures(entry), [])
  assert.deepEqual(about.keywords, NAMES)
  const again = parseEntry(renderEntry(entry))
  assert.deepEqual(Object.keys(again.features).sort(), [...NAMES, 'x'].sort())
  assert.deepEqual(again.deps.map(dep => dep.name).sort(), [...CRATES].sort())
  const { keywords } = about
  const searched = { canonical: canonicalName('constructor'), keywords, description: null }
  assert.ok(termsOf(searched).has('tostring'))
})

test('unknown keys of Object.prototype in an entry are kept', () => {
  const keys = NAMES.map(name => `"${name}":1`).join(',')
  const line = `{"name":"a","vers":"1.0.0","deps":[],"cksum":"${'0'.repeat(64)}","features":{},"yanked":false,${keys}}`
  const entry = parseEntry(line)
  assert.deepEqual(Object.keys(entry.other ?? {}).sort(), [...NAMES].sort())
  assert.deepEqual(parseEntry(renderEntry(entry)), entry)
})
