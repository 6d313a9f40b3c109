// Mirrors core: properties of a codec or parser for every input, beyond chosen examples.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderEntry } from '../../core/entry/entry.ts'
import { parseEntry, readEntry } from '../../core/entry/parse.ts'
import { Refusal } from '../../core/error/error.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import { isName, parseName } from '../../core/name.ts'
import { parseRequirement } from '../../core/requirement.ts'
import { parseQuery } from '../../core/search/words.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { parseVersion } from '../../core/version.ts'

const RUNS = { numRuns: 300 }

const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,20}$/).filter(isName)
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
  vers: fc.constantFrom('0.0.0', '1.2.3-rc.1', '9007199254740991.0.0+b'),
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
