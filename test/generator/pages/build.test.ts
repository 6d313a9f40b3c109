import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { indexPath, output } from '../../../core/paths/tree.ts'
import { parseVersion } from '../../../core/version.ts'
import { run } from '../../../generator/database/statement.ts'
import { build, drain } from '../../../generator/pages/build.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { isMarked, markAgain } from '../../../generator/records/marks.ts'
import { findRelease } from '../../../generator/records/releases.ts'
import { setYanked } from '../../../generator/records/releases-changes.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { fillRecords } from '../../support/filled-records.ts'
import { fileStamps, filesBelow, treeDigest } from '../../support/folder.ts'
import { inventedEntries } from '../../support/many-crates.ts'
import { withQueryHook } from '../../support/query-hook.ts'
import { listMarks } from '../../support/rows.ts'
import { hookTree } from '../../support/tree-hook.ts'
import {
  addCrate,
  indexVersions,
  newRegistry,
  OPERATOR,
  reopen,
  storedPath,
} from '../../support/workplace.ts'

const INDEX = 'index/de/mo/demo'
const demo = parseName('demo')

/** A registry with a few crates, built. */
async function smallRegistry(t: Parameters<typeof newRegistry>[0]): Promise<Registry> {
  const registry = await newRegistry(t)
  for (const version of ['1.0.0', '1.10.0', '1.9.0'])
    await addCrate(registry, { name: 'demo', version })
  await addCrate(registry, { name: 'Other_Crate', version: '0.1.0-alpha+build' })
  await build(registry)
  return registry
}

/** The key of the bytes of a version of `demo`. */
async function keyOf({ database }: Registry, version: string): Promise<string> {
  const crate = await findCrate(database, demo)
  const release = await findRelease(database, crate?.id ?? 0, parseVersion(version))
  return crateKey(demo, release?.cksum ?? '')
}

test('a build shows every .crate and index file; lines stand in publish order', async t => {
  const registry = await smallRegistry(t)
  assert.deepEqual(filesBelow(registry.tree.root), [
    'crates/Other_Crate/Other_Crate-0.1.0-alpha+build.crate',
    'crates/demo/demo-1.0.0.crate',
    'crates/demo/demo-1.10.0.crate',
    'crates/demo/demo-1.9.0.crate',
    'index/config.json',
    INDEX,
    'index/ot/he/other_crate',
  ])
  assert.deepEqual(indexVersions(registry, INDEX), ['1.0.0', '1.10.0', '1.9.0'])
  assert.deepEqual(await listMarks(registry.database, 'index'), [])
  assert.deepEqual(await listMarks(registry.database, 'file'), [])
})

test('nothing is rewritten that has its bytes, whatever is built', async t => {
  const registry = await smallRegistry(t)
  const before = fileStamps(registry.tree.root)
  assert.deepEqual(await build(registry), { crates: 0, issues: [] })
  assert.deepEqual(await build(registry, { all: true }), { crates: 2, issues: [] })
  assert.deepEqual(fileStamps(registry.tree.root), before)
})

test('--all removes what belongs to no crate and what a killed process left half-written', async t => {
  const registry = await smallRegistry(t)
  const before = treeDigest(registry.tree.root)
  for (const path of [
    'index/de/mo/demon',
    'index/NOTES',
    'crates/gone/gone-1.0.0.crate',
    'crates/demo/demo-9.0.0.crate',
    'crates/README',
    'crates/demo/.writing-0123456789abcdef',
    'index/.writing-0123456789abcdef',
    'index/de/mo/.writing-0123456789abcdef',
  ]) {
    mkdirSync(join(registry.tree.path(path), '..'), { recursive: true })
    writeFileSync(registry.tree.path(path), 'stray')
    // Elsewhere than in the index somebody else may be writing, so that age decides.
    if (path.startsWith('crates/')) utimesSync(registry.tree.path(path), 1000, 1000)
  }
  writeFileSync(registry.tree.path('robots.txt'), 'mine')
  await build(registry, { all: true })
  assert.equal(existsSync(registry.tree.path('crates/gone')), false)
  rmSync(registry.tree.path('robots.txt'))
  assert.equal(treeDigest(registry.tree.root), before)
})

test('a full build that was cut short is begun anew', async t => {
  const registry = await smallRegistry(t)
  const before = treeDigest(registry.tree.root)
  rmSync(registry.tree.root, { recursive: true })
  const unhook = hookTree(registry.tree, tree => {
    tree.show = () => Promise.reject(new Error('disk full'))
  })
  await assert.rejects(build(registry), new Error('disk full'))
  unhook()
  assert.deepEqual(await build(registry), { crates: 2, issues: [] })
  assert.equal(treeDigest(registry.tree.root), before)
})

test('a .crate is one file under two names, the store and the tree', async t => {
  const registry = await smallRegistry(t)
  const stored = storedPath(registry, await keyOf(registry, '1.0.0'))
  const shown = registry.tree.path('crates/demo/demo-1.0.0.crate')
  assert.equal(statSync(stored).ino, statSync(shown).ino)
})

test('a mark that was renewed while its crate was built stays', async t => {
  const registry = await smallRegistry(t)
  const { crate } = await addCrate(registry, { name: 'demo', version: '2.0.0' })
  const unhook = hookTree(registry.tree, tree => {
    const { writeAll } = tree
    tree.writeAll = async (...args) => {
      unhook()
      await setYanked(registry, demo, parseVersion('1.0.0'), true, OPERATOR)
      return writeAll.apply(tree, args)
    }
  })
  await drain(registry)
  assert.equal(await isMarked(registry.database, { kind: 'index', subject: crate.id }), true)
  assert.deepEqual(await drain(registry), { crates: 1, issues: [] })
  assert.equal(await isMarked(registry.database, { kind: 'index', subject: crate.id }), false)
})

test('a crate that is marked again after other changes is rendered once', async t => {
  const registry = await smallRegistry(t)
  const { database } = registry
  const crate = await findCrate(database, demo)
  assert.ok(crate)
  // As whoever loses a mutex does: the mark is newer than the last change of the crate.
  await markAgain(database, [{ kind: 'whole', subject: crate.id }])
  const [mark] = await listMarks(database, 'whole')
  assert.ok(mark && mark.generation > crate.generation)
  await drain(registry)
  assert.deepEqual(await listMarks(database, 'whole'), [])
})

test('a version that is added while its crate is built never has its line before its .crate', async t => {
  const registry = await smallRegistry(t)
  await addCrate(registry, { name: 'demo', version: '2.0.0' })
  // After any question of the build to the records, another process adds a version.
  const other = await reopen(t, registry.dir)
  const questions = { crate: 'FROM crates', lines: 'SELECT line', marks: 'FROM marks' }
  for (const [what, text] of Object.entries(questions)) {
    let isAdded = false
    const database = withQueryHook(registry.database, async sql => {
      if (isAdded || !sql.includes(text)) return
      isAdded = true
      // Without the mutex, which the build holds.
      const mutex = { run: <T>(work: () => Promise<T>) => work() } as Registry['mutex']
      await addCrate({ ...other, mutex }, { name: 'demo', version: `3.0.0-${what}` })
    })
    await drain({ ...registry, database })
    assert.ok(isAdded, what)
    for (const version of indexVersions(registry, INDEX)) {
      const path = `crates/demo/demo-${version}.crate`
      assert.ok(existsSync(registry.tree.path(path)), `${version} after ${what}`)
    }
  }
  await drain(registry)
  assert.equal(indexVersions(registry, INDEX).length, 7)
})

test('lost bytes keep no other crate and no other version from being shown, and are named', async t => {
  const registry = await smallRegistry(t)
  const key = await keyOf(registry, '1.9.0')
  const message =
    'the .crate of `demo` 1.9.0 is missing from the crate store or damaged there; put it back with `plimsoll add FILE`, or from a backup of the registry folder and run `plimsoll build --all`'
  const lost = { code: 'crate_lost', severity: 'error', message } as const
  await registry.crates.remove(key)
  rmSync(registry.tree.root, { recursive: true })
  assert.deepEqual(await build(registry), { crates: 2, issues: [lost] })
  assert.equal(existsSync(registry.tree.path('crates/demo/demo-1.9.0.crate')), false)
  assert.deepEqual(indexVersions(registry, INDEX), ['1.0.0', '1.10.0', '1.9.0'])
  // Damaged bytes never take the place of a good copy.
  writeFileSync(storedPath(registry, key), 'rotten')
  await registry.tree.write(output('crates/demo/demo-1.9.0.crate', 'good'))
  assert.deepEqual(await build(registry, { all: true }), { crates: 2, issues: [lost] })
  assert.equal((await registry.tree.read('crates/demo/demo-1.9.0.crate'))?.toString(), 'good')
})

test('a new version whose bytes are lost is not shown, and stops no other crate', async t => {
  const registry = await smallRegistry(t)
  const { release, crate } = await addCrate(registry, { name: 'demo', version: '2.0.0' })
  await addCrate(registry, { name: 'third', version: '1.0.0' })
  await registry.crates.remove(crateKey(demo, release.entry.cksum))
  const half = registry.tree.path('index/th/ir/.writing-0123456789abcdef')
  mkdirSync(dirname(half), { recursive: true })
  writeFileSync(half, 'half')
  const { crates, issues } = await build(registry)
  assert.equal(existsSync(half), false)
  assert.equal(crates, 2)
  assert.equal(String(issues.map(issue => issue.code)), 'crate_lost')
  assert.deepEqual(indexVersions(registry, INDEX), ['1.0.0', '1.10.0', '1.9.0'])
  assert.deepEqual(indexVersions(registry, 'index/th/ir/third'), ['1.0.0'])
  assert.equal(await isMarked(registry.database, { kind: 'index', subject: crate.id }), true)
})

test('many marked crates are read together; no mark is left, and each crate has its lines', async t => {
  const registry = await smallRegistry(t)
  const entries = inventedEntries(1200)
  await fillRecords(registry, entries)
  const { database } = registry
  await run(
    database,
    `INSERT OR REPLACE INTO marks (kind, subject, generation)
      SELECT 'index', id, generation FROM crates`,
  )
  let statements = 0
  const counting = withQueryHook(database, () => {
    statements++
  })
  const { crates, issues } = await drain({ ...registry, database: counting })
  assert.deepEqual([crates, issues], [1202, []])
  assert.ok(statements < 60, `${statements} statements`)
  assert.deepEqual(await listMarks(database, 'index'), [])
  for (const { name, newest } of entries.slice(0, 20))
    assert.deepEqual(indexVersions(registry, indexPath(parseName(name))), [newest])
  assert.deepEqual(indexVersions(registry, INDEX), ['1.0.0', '1.10.0', '1.9.0'])
})

test('a build ends while others publish without end: it renders what was marked when it began', async t => {
  const registry = await smallRegistry(t)
  const { database } = registry
  const { crate } = await addCrate(registry, { name: 'early', version: '1.0.0' })
  let late = 0
  const publishing = withQueryHook(database, async sql => {
    if (!/^SELECT .* FROM marks LEFT JOIN listings/.test(sql) || late === 20) return
    // Without the mutex, which the build holds.
    const mutex = { run: <T>(work: () => Promise<T>) => work() } as Registry['mutex']
    await addCrate({ ...registry, mutex }, { name: `late-${late++}`, version: '1.0.0' })
  })
  const { crates } = await drain({ ...registry, database: publishing })
  assert.equal(crates, 1)
  assert.equal(await isMarked(database, { kind: 'index', subject: crate.id }), false)
  assert.equal((await listMarks(database, 'index')).length, late)
})
