// Mirrors generator/import/source/: a public tree
import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { refuse } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { column } from '../../../generator/database/statement.ts'
import { readIndexFile, readTier } from '../../../generator/import/source/index-file.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildEvil } from '../../support/crate-builder.ts'
import { findingsOf } from '../../support/findings.ts'
import { report, takeOver } from '../../support/import.ts'
import { type MargoRelease, MargoTree } from '../../support/margo.ts'
import { scratch } from '../../support/scratch.ts'
import {
  addAndShow,
  folderOf,
  indexEntries,
  newRegistry,
  OPERATOR,
  publicText,
} from '../../support/workplace.ts'

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

function margo(t: TestContext): MargoTree {
  return new MargoTree(join(folderOf(t), 'old'), 'https://old.example/registry/')
}

test('every field of a line survives, whatever wrote it', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  const deps = [
    { name: 'away', req: '>=1, <2', registry: 'sparse+https://third.example/index/' },
    { name: 'here', req: '1.0', registry: old.indexUrl },
    { name: 'json', req: '^1', registry: CRATES_IO, package: 'serde_json', optional: true },
  ]
  const line = {
    deps: deps.map(dependency => ({
      ...dependency,
      features: ['a'],
      optional: dependency.name === 'json',
      default_features: false,
      target: 'cfg(target_os="wasi")',
      kind: 'normal',
      package: dependency.package ?? null,
      'x-note': { deep: [1, null] },
    })),
    features: { default: ['json2'], json2: ['dep:json'] },
    links: 'z',
    rust_version: '1.60',
    pubtime: '2020-02-29T01:02:03Z',
    'x-signature': ['a', { b: 1 }],
  }
  old.add({ name: 'MixedCase', version: '1.0.0-rc.1+build.5', yanked: true, line })
  old.add({ name: 'MixedCase', version: '0.9.0' })
  const { sums, outcomes } = await takeOver(registry, old.root)
  assert.deepEqual(sums, { added: 2, present: 0, refused: 0 }, report(outcomes))
  await build(registry)
  const [first, second] = indexEntries(registry, 'index/mi/xe/mixedcase')
  const [before] = old.lines('MixedCase')
  const { features, features2, ...rest } = first
  assert.deepEqual(
    { ...rest, features: { ...features, ...features2 } },
    {
      ...before,
      deps: line.deps.map(dependency =>
        dependency.name === 'here' ? { ...dependency, registry: null } : dependency,
      ),
    },
  )
  assert.equal(second.vers, '0.9.0')
})

test('a rerun takes nothing twice, and a newer state of the source is told', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  old.add({ name: 'demo', version: '1.0.0' })
  old.add({ name: 'demo', version: '1.1.0', yanked: true })
  await takeOver(registry, old.root)
  old.add({ name: 'demo', version: '1.2.0' })
  const again = await takeOver(registry, old.root)
  assert.deepEqual(again.sums, { added: 1, present: 2, refused: 0 })
  const other = new MargoTree(join(folderOf(t), 'other'), old.base)
  other.add({ name: 'demo', version: '1.0.0', yanked: true })
  other.add({ name: 'demo', version: '1.2.0', files: { 'src/lib.rs': '// other' } })
  other.add({ name: 'Demo-', version: '9.0.0' })
  const third = await takeOver(registry, other.root)
  assert.deepEqual(third.sums, { added: 1, present: 1, refused: 1 })
  assert.match(
    report(third.outcomes),
    /demo 1\.0\.0 present: `demo` 1\.0\.0 was here already; it is yanked in the source/,
  )
  assert.match(report(third.outcomes), /demo 1\.2\.0 refused: `demo` 1\.2\.0 already exists/)
})

test('what was deleted here does not come back', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  for (const version of ['1.0.0', '1.1.0']) old.add({ name: 'demo', version })
  await takeOver(registry, old.root)
  const target = { name: parseName('demo'), version: parseVersion('1.0.0'), force: false }
  await deleteReleases(registry, target, OPERATOR)
  const { sums, outcomes } = await takeOver(registry, old.root)
  assert.deepEqual(sums, { added: 0, present: 1, refused: 1 })
  assert.match(report(outcomes), /1\.0\.0 refused: `demo` 1\.0\.0 was deleted here; `plimsoll add`/)
})

test('a full disk ends an import at once', async t => {
  const old = margo(t)
  for (const version of ['1.0.0', '1.1.0']) old.add({ name: 'demo', version })
  const registry = await newRegistry(t)
  // As the store does, which ends the stream that it was given: nobody else hears of its errors.
  t.mock.method(registry.crates, 'stage', async (source: AsyncIterable<Uint8Array>) => {
    for await (const _ of source) refuse('storage_full', { reason: 'ENOSPC' })
  })
  await assert.rejects(takeOver(registry, old.root), /disk of the registry is full/)
})

test('what Cargo could not use is refused line by line, the rest goes on', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  const good = old.add({ name: 'demo', version: '1.0.0' })
  const bad = (version: string, line: Record<string, unknown>) =>
    old.add({ name: 'demo', version, line })
  bad('1.0.1', { deps: [{ name: '', req: '1' }] })
  bad('1.0.2', { pubtime: '2020-01-01T00:00:00.123Z' })
  bad('1.0.3', { cksum: 'AB' })
  const again = (version: string, part = '', other = '') =>
    good.replace('1.0.0', version).replace(part, other)
  for (const line of [
    `${good}\n`,
    `${again('1.0.0+again')}\n`,
    `${again('1.0.4', '"vers"', '"name":"demo","vers"')}\n`,
    'half a li\n',
    Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
    `${again('1.0.5', '"name":"demo"', '"name":"other"')}\n`,
    `${again('1.0.6', '"name":"demo"', '"name":"../../etc"')}\r\n`,
    '\n\r\n',
  ])
    old.append('demo', line)
  old.add({ name: 'demo', version: '2.0.0' })
  const { sums, outcomes } = await takeOver(registry, old.root)
  assert.deepEqual(sums, { added: 2, present: 0, refused: 10 }, report(outcomes))
  const reasons = report(outcomes)
  for (const expected of [
    /line 2: `deps\[0\]\.name` of the index entry must be a crate name/,
    /line 3: `pubtime` of the index entry must be a time/,
    /line 4: `cksum` of the index entry must be 64/,
    /1\.0\.0 refused: version 1\.0\.0 already exists \(.*line 1\)/,
    /1\.0\.0\+again refused: version 1\.0\.0\+again already exists/,
    /line 7: the index entry has the key `name` twice/,
    /line 8: the index entry is not valid JSON/,
    /line 9: it is not valid UTF-8/,
    /line 10: the entry is for `other`, whose index file is elsewhere/,
    /line 11: `name` of the index entry must be a crate name/,
  ])
    assert.match(reasons, expected)
})

test('of two lines for one version the one whose bytes are there is true', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  old.add({ name: 'demo', version: '1.0.0', files: { 'src/lib.rs': '// first' } })
  const second = old.add({ name: 'demo', version: '1.0.0', files: { 'src/lib.rs': '// second' } })
  const { sums, outcomes } = await takeOver(registry, old.root)
  assert.deepEqual(sums, { added: 1, present: 0, refused: 1 })
  assert.match(report(outcomes), /refused: the \.crate of `demo` 1\.0\.0 has the checksum/)
  await build(registry)
  assert.equal(JSON.parse(publicText(registry, 'index/de/mo/demo')).cksum, JSON.parse(second).cksum)
})

const KEPT = 'added: its \\.crate would be refused today'
const BYTES: [release: Partial<MargoRelease> & { name: string }, expected: string][] = [
  [{ name: 'gone' }, 'refused: there is no \\.crate of `gone` 1\\.0\\.0: looked for'],
  [{ name: 'altered' }, 'refused: the \\.crate of `altered` 1\\.0\\.0 has the checksum'],
  [
    { name: 'liar', manifest: '[package]\nname = "honest"\nversion = "1.0.0"\n' },
    'refused: .* calls it liar 1\\.0\\.0, but the `Cargo\\.toml` in its \\.crate says honest',
  ],
  [{ name: 'linked', bytes: buildEvil('symlink', { name: 'linked' }) }, `${KEPT}.*symbolic link`],
  [{ name: 'doubled', bytes: buildEvil('same path twice', { name: 'doubled' }) }, `${KEPT}.*twice`],
  [{ name: 'longer', bytes: buildEvil('data after gzip', { name: 'longer' }) }, `${KEPT}.*end`],
  [{ name: 'nothing', bytes: buildEvil('not gzip') }, 'refused: .* is not a gzip'],
  [{ name: 'empty', bytes: new Uint8Array() }, 'refused: .* is not a gzip'],
  [{ name: 'cut', bytes: buildEvil('truncated gzip', { name: 'cut' }) }, 'refused: .* cut off'],
  [{ name: 'bare', bytes: buildEvil('no manifest', { name: 'bare' }) }, 'refused: .* no `Cargo'],
  [{ name: 'other', bytes: buildEvil('cargo-ok') }, 'refused: .* is not below `other-1.0.0/`'],
  [{ name: 'page', manifest: '[package]\n<html>' }, 'refused: .* not valid TOML'],
  [
    { name: 'unlike', manifest: '[features]\nextra = []\n[dependencies]\nx = "1"\n' },
    'added: .*the dependency `x` is only in the Cargo\\.toml; the feature `extra`',
  ],
]

test('bytes that are missing, altered or of another crate are refused, those that a publish would be are kept', async t => {
  const old = margo(t)
  const registry = await newRegistry(t)
  for (const [release] of BYTES) old.add({ version: '1.0.0', ...release })
  rmSync(join(old.root, old.cratePath('gone', '1.0.0')))
  old.write(old.cratePath('altered', '1.0.0'), 'something else')
  const { sums, outcomes } = await takeOver(registry, old.root)
  assert.deepEqual(sums, { added: 4, present: 0, refused: 9 }, report(outcomes))
  for (const [{ name }, expected] of BYTES)
    assert.match(report(outcomes), new RegExp(`${name} 1\\.0\\.0 ${expected}`))
  const about = await column<string>(registry.database, 'SELECT about FROM releases')
  const read = about.filter(text => JSON.parse(text).description === 'A crate for tests')
  assert.equal(read.length, 4)
  await build(registry)
  assert.deepEqual(await findingsOf(verifyCrates(registry, { repair: true, served: false })), [])
  // What a publish would refuse keeps no crate from its pages.
  assert.deepEqual(await buildPages(registry), { crates: 4, issues: [], areLeft: false })
  assert.match(publicText(registry, 'crates/linked/1.0.0/src/index.html'), /Source of linked 1/)
})

test('our own tree moves under a new address', async t => {
  const [first, second] = [await newRegistry(t), await newRegistry(t)]
  await addAndShow(first, { name: 'base', version: '1.0.0' })
  await addAndShow(first, {
    name: 'user',
    version: '1.0.0',
    manifest:
      '[dependencies.base]\nversion = "1"\nregistry-index = "sparse+https://crates.example/index/"\n',
    files: { 'src/lib.rs': '', 'README.md': '# Hello' },
  })
  await build(first, { all: true })
  const copy = join(folderOf(t), 'copy')
  cpSync(first.tree.root, copy, { recursive: true })
  const { sums, source } = await takeOver(second, copy)
  assert.deepEqual(sums, { added: 2, present: 0, refused: 0 })
  assert.deepEqual(source.ownUrls, [
    'sparse+https://crates.example/index/',
    'https://crates.example/index.git',
  ])
  await build(second)
  assert.equal(publicText(second, 'index/us/er/user'), publicText(first, 'index/us/er/user'))
  const readmes = await column(second.database, 'SELECT readme FROM releases')
  assert.deepEqual(readmes, [null, '# Hello'])
})

test('a line of more than 4 MiB is refused, and so is a file of more than 64 MiB', async t => {
  const crates = () => assert.fail('nothing of it is a release')
  const line = Buffer.alloc(4 * 1024 ** 2 + 1, 'x')
  const file = readIndexFile({ where: 'de/mo/demo', stem: 'demo', bytes: line }, crates as never)
  assert.match(JSON.stringify(file.refused), /import_too_long/)
  const root = scratch(new Cleanup(t))
  const size = 64 * 1024 ** 2 + 1
  const tier = { path: 'de/mo/demo', stem: 'demo', size }
  const { refused } = await readTier(root, tier, crates as never)
  assert.match(JSON.stringify(refused), /import_too_long/)
})
