// Mirrors core/entry/features.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../core/entry/entry.ts'
import { checkFeatures } from '../../core/entry/features.ts'
import { frugally } from '../support/processor-time.ts'
import { dependency, entry } from '../support/release.ts'

const OPTIONAL = { optional: true }
const DEPENDENCIES = [
  dependency('log'),
  dependency('tokio', '^1', OPTIONAL),
  dependency('json', '^1', { ...OPTIONAL, package: 'serde_json' }),
]

/** What is said of these features of a crate that needs `log` and may need `tokio` and `json`. */
function sentences(features: Entry['features']): string[] {
  return checkFeatures(entry({ features, deps: DEPENDENCIES })).map(issue => issue.message)
}

const GOOD: Record<string, Entry['features']> = {
  'implicit features of optional dependencies': { default: ['tokio', 'json'] },
  'features, dependencies and their features': { a: ['b', 'tokio', 'log/x', 'tokio/x'], b: [] },
  'dep:': { async: ['dep:tokio'], j: ['dep:json'] },
  'dep: and a weak member': { a: ['dep:tokio', 'tokio?/x', 'json?/std'] },
  'names of all sorts': { _a: [], 2018: [], '2d': [], 'a+b.c-d': [], été: [] },
  'a ring': { a: ['b'], b: ['a'] },
  'a name in the way, with a way around': { tokio: [], a: ['tokio/x'] },
  'what a name of its own includes': { tokio: ['dep:tokio'] },
}
for (const [what, features] of Object.entries(GOOD))
  test(`accepted: ${what}`, () => assert.deepEqual(sentences(features), []))

const NEITHER = 'which is neither a feature nor an optional dependency; add it or remove it'
const REQUIRED =
  'but the dependency `log` is not optional; add `optional = true` to it or remove the item'

/** Items that a feature cannot enable, and how the sentence goes on that says so. */
const ITEMS: readonly (readonly [items: readonly string[], goesOn: string])[] = [
  [['b', '__proto__'], `, ${NEITHER}`],
  [['log', 'dep:log', 'log?/std'], `, ${REQUIRED}`],
  [['dep:nix', 'nix/std'], ', but there is no dependency `nix`; add it or remove the item'],
  // The real name of a renamed dependency.
  [['serde_json/std'], ', but there is no dependency `serde_json`; add it or remove the item'],
  [
    ['', 'dep:', '/std', 'tokio/', 'tokio/a/b', 'dep:tokio/rt', 'xdep:tokio'],
    '; write `FEATURE`, `dep:DEPENDENCY`, `DEPENDENCY/FEATURE` or `DEPENDENCY?/FEATURE`',
  ],
]
for (const [items, goesOn] of ITEMS)
  for (const item of items)
    test(`refused: a feature that enables ${JSON.stringify(item)}`, () =>
      assert.deepEqual(sentences({ a: [item] }), [
        `the feature \`a\` enables \`${item}\`${goesOn}`,
      ]))

test('names that no feature can have', () => {
  for (const name of ['', 'a b', 'a/b', 'dep:tokio', '-a'])
    assert.deepEqual(sentences({ [name]: [] }), [
      `the feature name \`${name}\` must begin with a letter, a digit or \`_\` and go on with letters, digits, \`_\`, \`-\`, \`+\` and \`.\``,
    ])
})

test('an implicit feature that `dep:` took away, and a feature in its way', () => {
  assert.deepEqual(sentences({ a: ['dep:tokio'], b: ['tokio'] }), [
    'the feature `b` enables `tokio`, a dependency that is not a feature because `dep:tokio` is used elsewhere; write `dep:tokio` here as well',
  ])
  const unreachable =
    'the optional dependency `tokio` is enabled by no feature; add `dep:tokio` to a feature'
  for (const features of [{ tokio: [] }, { tokio: [], a: ['tokio'] }])
    assert.deepEqual(sentences(features), [unreachable])
})

test('a manifest that is wrong everywhere gets a readable answer, soon', () => {
  const items = Array.from({ length: 300 }, (_, index) => `nix${index}`)
  const features = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`f${index}`, items]),
  )
  assert.equal(frugally(() => sentences(features)).length, 100)
})
