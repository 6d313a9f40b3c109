import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { renderEntry } from '../../../core/entry/entry.ts'
import { parseEntry } from '../../../core/entry/parse.ts'
import { parseName } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { parseVersion } from '../../../core/version.ts'
import { one, type Row, run } from '../../../generator/database/statement.ts'
import { build } from '../../../generator/pages/build.ts'
import { findCrates } from '../../../generator/places/disk/crate-files.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import type { VerifyOptions } from '../../../generator/verify/finding.ts'
import { buildCrate, buildEvil } from '../../support/crate-builder.ts'
import { findingsOf } from '../../support/findings.ts'
import { filesBelow, treeDigest } from '../../support/folder.ts'
import { addCrate, newRegistry, OPERATOR, once, storedPath } from '../../support/workplace.ts'

const CRATE = 'crates/demo/demo-1.0.0.crate'
const INDEX = 'index/de/mo/demo'
const CONFIG = 'index/config.json'
const CURE = 'put them back with `plimsoll add FILE`, or from a backup'

/** A registry; the key of the bytes of demo 1.0.0, and where the store keeps them. */
async function scene(t: TestContext) {
  const registry = await newRegistry(t)
  const { release } = await addCrate(registry, { name: 'demo', version: '1.0.0' })
  await addCrate(registry, { name: 'demo', version: '1.1.0' })
  await addCrate(registry, { name: 'other', version: '1.0.0' })
  await build(registry)
  const key = crateKey(parseName('demo'), release.entry.cksum)
  return { registry, key, stored: storedPath(registry, key) }
}

const findings = (registry: Registry, options: Partial<VerifyOptions> = {}) =>
  findingsOf(verifyCrates(registry, { repair: false, served: false, ...options }))

/** Puts other bytes in the place of a file: a new file, so that a link elsewhere keeps its bytes. */
function replace(path: string, bytes: string | Uint8Array): void {
  rmSync(path, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
}

function flipped(path: string): Buffer {
  const bytes = readFileSync(path)
  bytes[20] = (bytes[20] ?? 0) ^ 1
  return bytes
}

test('images of READMEs belong to their crate, if it has the version', async t => {
  const { registry } = await scene(t)
  const image = (version: string) => `crates/demo/${version}/images/${'a'.repeat(64)}.png`
  for (const version of ['1.0.0', '9.0.0']) replace(registry.tree.path(image(version)), 'x')
  const stray = `${image('9.0.0')}: does not belong to its crate`
  assert.deepEqual(await findings(registry), [stray])
})

/** What is found when a file has these bytes instead, or is gone. */
const damages: [path: string, found: string, bytes: ((path: string) => string | Buffer) | null][] =
  [
    [CRATE, 'the bytes differ from the records', flipped],
    [CRATE, 'the .crate is not in the public tree', null],
    [INDEX, 'is missing', null],
    [INDEX, 'differs from the records', path => `${readFileSync(path)}{}\n`],
    ['index/de/mo/demon', 'belongs to no crate of the records', () => 'x'],
    ['crates/demo/demo-9.0.0.crate', 'does not belong to its crate', () => 'x'],
    ['crates/demon/demon-1.0.0.crate', 'belongs to no crate of the records', () => 'x'],
    [CONFIG, 'differs from the settings', () => '{}'],
    [CONFIG, 'is missing', null],
  ]

for (const [path, what, bytes] of damages) {
  const finding = `${path}: ${what}`
  test(`finds and mends: ${finding}`, async t => {
    const { registry } = await scene(t)
    const before = treeDigest(registry.tree.root)
    assert.deepEqual(await findings(registry), [])
    const file = registry.tree.path(path)
    if (bytes) replace(file, bytes(file))
    else rmSync(file)
    assert.deepEqual(await findings(registry), [finding])
    assert.deepEqual(await findings(registry, { repair: true }), [`repaired ${finding}`])
    assert.deepEqual(await findings(registry), [])
    assert.equal(treeDigest(registry.tree.root), before)
  })
}

const losses: [what: string, words: string, harm: (stored: string) => void][] = [
  ['missing from', 'the bytes are missing from the crate store', rmSync],
  [
    'damaged in',
    'the bytes in the crate store are not the published ones',
    stored => replace(stored, flipped(stored)),
  ],
]
for (const [what, words, harm] of losses) {
  test(`bytes ${what} the crate store come back from the public tree`, async t => {
    const place = await scene(t)
    harm(place.stored)
    const finding = `demo@1.0.0: ${words} (${place.key})`
    assert.deepEqual(await findings(place.registry), [finding])
    assert.deepEqual(await findings(place.registry, { repair: true }), [`repaired ${finding}`])
    assert.deepEqual(await findings(place.registry), [])
    assert.deepEqual(readFileSync(place.stored), readFileSync(place.registry.tree.path(CRATE)))
  })

  test(`bytes ${what} the crate store and the public tree are lost, and nothing is said to be repaired`, async t => {
    const place = await scene(t)
    harm(place.stored)
    replace(place.registry.tree.path(CRATE), 'rotten')
    const expected = [
      `lost demo@1.0.0: ${words} (${place.key}); ${CURE}`,
      `${CRATE}: the bytes differ from the records`,
    ]
    assert.deepEqual(await findings(place.registry), expected)
    assert.deepEqual(await findings(place.registry, { repair: true }), expected)
  })
}

const CONTRADICTS = 'the index entry in the records contradicts its other fields'
const edits: [what: string, edit: (line: string) => string, words: string][] = [
  [
    'another checksum',
    line => line.replace(/"cksum":"(.)/, (_, digit) => `"cksum":"${digit === 'a' ? 'b' : 'a'}`),
    CONTRADICTS,
  ],
  ['another flag', line => line.replace('"yanked":false', '"yanked":true'), CONTRADICTS],
  [
    'another spelling',
    line => line.replace('{"name"', '{ "name"'),
    'the index entry in the records was changed by hand',
  ],
]
for (const [what, edit, words] of edits) {
  test(`an index line that was edited in the database is told: ${what}`, async t => {
    const { registry } = await scene(t)
    const { database } = registry
    const { line } = await one<Row<'releases'>>(database, 'SELECT * FROM releases WHERE id = 1')
    await run(database, 'UPDATE releases SET line = ? WHERE id = 1', edit(line))
    assert.deepEqual(await findings(registry), [
      `lost demo@1.0.0: ${words}; restore a backup`,
      `${INDEX}: differs from the records`,
    ])
  })
}

const REST = 'publish another version, and yank or delete this one'
const DEMO = 'name = "demo"\nversion = "1.0.0"\n'
const manifest = (text: string) =>
  buildCrate({ name: 'demo', version: '1.0.0', manifest: `[package]\n${text}\n` })
const unusable: [what: string, bytes: Uint8Array, features: object, words: RegExp][] = [
  ['an empty file', new Uint8Array(), {}, /is not a gzip-compressed archive/],
  ['no manifest', buildEvil('no manifest', { name: 'demo' }), {}, /has no `Cargo.toml`/],
  ['a name', manifest('name = 5\nversion = "1.0.0"'), {}, /`package\.name` .* not a string/],
  [
    'a workspace',
    manifest(`${DEMO}license.workspace = true`),
    {},
    /`package\.license` .* inherited/,
  ],
  [
    'its dependency',
    manifest(`${DEMO}[dependencies]\na.workspace = true`),
    {},
    /`dependencies\.a` /,
  ],
  ['a feature', buildCrate({ name: 'demo', version: '1.0.0' }), { f: ['g'] }, /`f` enables `g`/],
]
for (const [what, bytes, features, words] of unusable)
  test(`what no Cargo can use is told: ${what}`, async t => {
    const { registry } = await scene(t)
    const { database, crates } = registry
    const staged = await crates.stage(once(Buffer.from(bytes)), 1_000_000)
    await staged.keep(crateKey(parseName('demo'), staged.cksum))
    const { line } = await one<Row<'releases'>>(database, 'SELECT * FROM releases WHERE id = 1')
    const changed = { ...parseEntry(line), cksum: staged.cksum, features: { ...features } }
    const set = 'UPDATE releases SET line = ?, cksum = ? WHERE id = 1'
    await run(database, set, renderEntry(changed), staged.cksum)
    await build(registry, { all: true })
    const [first = '', ...others] = await findings(registry)
    assert.deepEqual(others, [])
    assert.match(first, /^lost demo@1\.0\.0: no Cargo can use it: /)
    assert.match(first, words)
    assert.ok(first.endsWith(REST))
  })

test('changes that wait are counted; a repair renders them, but leaves them to a daemon', async t => {
  const { registry } = await scene(t)
  await addCrate(registry, { name: 'demo', version: '2.0.0' })
  const told: number[] = []
  const onPending = (outputs: number) => told.push(outputs)
  for (const options of [{}, { served: true }, { served: true, repair: true }]) {
    assert.deepEqual(await findings(registry, { ...options, onPending }), [])
    assert.deepEqual(told.splice(0), [2])
  }
  writeFileSync(registry.tree.path('index/ot/he/other'), 'spoilt')
  assert.deepEqual(await findings(registry), ['index/ot/he/other: differs from the records'])
  assert.deepEqual(await findings(registry, { repair: true, onPending }), [
    'repaired crates/demo/demo-2.0.0.crate: was still to be rendered',
    `repaired ${INDEX}: was still to be rendered`,
    'repaired index/ot/he/other: differs from the records',
  ])
  assert.deepEqual([await findings(registry, { onPending }), told], [[], []])
})

test('orphaned bytes are no finding; a repair sets them aside, and no others, from where they can be added', async t => {
  const { registry } = await scene(t)
  const bytes = Buffer.from(buildCrate({ name: 'demo', version: '3.0.0' }))
  const staged = await registry.crates.stage(once(bytes), 1_000_000)
  const key = crateKey(parseName('demo'), staged.cksum)
  await staged.keep(key)
  const before = filesBelow(registry.crates.place.name).length
  assert.deepEqual(await findings(registry), [])
  assert.deepEqual(await findings(registry, { repair: true }), [
    `repaired ${key}: bytes without a release were moved to crates/aside/demo-${staged.cksum}.crate; add or remove them`,
  ])
  assert.equal(filesBelow(registry.crates.place.name).length, before)
  assert.deepEqual(await findings(registry, { repair: true }), [])
  const [path = ''] = await findCrates(join(registry.crates.place.name, 'aside'))
  assert.deepEqual(readFileSync(path), bytes)
})

test('the bytes of a deleted version are a finding, and a repair sets them aside', async t => {
  const { registry, key, stored } = await scene(t)
  const bytes = readFileSync(stored)
  const version = parseVersion('1.0.0')
  await deleteReleases(registry, { name: parseName('demo'), version, force: false }, OPERATOR)
  assert.deepEqual(await findings(registry), [])
  // As a deletion leaves them that was killed.
  replace(stored, bytes)
  const finding = `demo@1.0.0: was deleted, but its bytes are in the crate store (${key})`
  assert.deepEqual(await findings(registry), [finding])
  const aside = `crates/aside/demo-${key.slice(-70)}`
  const repaired = `repaired demo@1.0.0: was deleted, but its bytes are in the crate store (moved to ${aside}; remove them there)`
  assert.deepEqual(await findings(registry, { repair: true }), [repaired])
  assert.deepEqual(await findings(registry), [])
  assert.deepEqual(readFileSync(join(registry.dir, aside)), bytes)
  // It may come back.
  replace(stored, bytes)
  await addCrate(registry, { name: 'demo', version })
  await build(registry)
  assert.deepEqual(await findings(registry), [])
})
