// Mirrors generator/projections/dependents: files are compared with what a whole build writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../../generator/database/statement.ts'
import { markSelected } from '../../../generator/records/marks.ts'
import { readLocks } from '../../../generator/registry/changes/locks.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { dependentsFiles, onOwn, remove, render } from '../../support/dependents.ts'
import { findingsOf } from '../../support/findings.ts'
import { fileStamps } from '../../support/folder.ts'
import { addCrate, newRegistry, publicText } from '../../support/workplace.ts'

const dependentsOf = (registry: Registry, file: string) =>
  JSON.parse(publicText(registry, `dependents/${file}.json`)).dependents

test('a file says how each version requires a crate; a publish writes those of its own', async t => {
  const registry = await newRegistry(t)
  const add = (name: string, version: string, manifest: string) =>
    addCrate(registry, { name, version, manifest })
  await add('low', '1.0.0', '')
  await add('app', '1.0.0', onOwn('low', '1'))
  await add('app', '1.1.0', `${onOwn('low', '1')}[dev-dependencies]\nSerde-Json = "0.9"\n`)
  await add(
    'other',
    '1.0.0',
    '\n[dependencies]\nserde = "1"\n[build-dependencies]\nserde = "=1.2"\n',
  )
  await render(registry)
  const registryIo = 'https://github.com/rust-lang/crates.io-index'
  const way = (requirement: string, kind: string, from: string | null, ...versions: string[]) => ({
    ...{ requirement, kind, registry: from, versions },
  })
  assert.deepEqual(dependentsFiles(registry), [
    'dependents/low/all.json',
    'dependents/serde/all.json',
    'dependents/serde_json/all.json',
  ])
  const low = way('^1', 'normal', null, '1.0.0', '1.1.0')
  assert.deepEqual(dependentsOf(registry, 'low/all'), [{ crate: 'app', requires: [low] }])
  assert.deepEqual(dependentsOf(registry, 'serde_json/all'), [
    { crate: 'app', requires: [way('^0.9', 'dev', registryIo, '1.1.0')] },
  ])
  const both = [way('^1', 'normal', registryIo, '1.0.0'), way('=1.2', 'build', registryIo, '1.0.0')]
  assert.deepEqual(dependentsOf(registry, 'serde/all'), [{ crate: 'other', requires: both }])
  const before = fileStamps(registry.tree.root)
  await add('app', '1.2.0', onOwn('low', '2'))
  await render(registry)
  const after = fileStamps(registry.tree.root)
  const written = dependentsFiles(registry).filter(path => before[path] !== after[path])
  assert.deepEqual(written, ['dependents/low/all.json'])
  await remove(registry, 'app', '1.1.0')
  await render(registry)
  assert.deepEqual(dependentsFiles(registry), [
    'dependents/low/all.json',
    'dependents/serde/all.json',
  ])
  const left = [way('^1', 'normal', null, '1.0.0'), way('^2', 'normal', null, '1.2.0')]
  assert.deepEqual(dependentsOf(registry, 'low/all'), [{ crate: 'app', requires: left }])
  await registry.tree.remove('dependents/low', true)
  const missing = ['all.json', 'index.html'].map(
    file => `repaired dependents/low/${file}: the page is missing`,
  )
  assert.deepEqual(await findingsOf(verify(registry, { repair: true, served: false })), missing)
  assert.deepEqual(dependentsOf(registry, 'low/all'), [{ crate: 'app', requires: left }])
})

const packaged = (...packages: (readonly [name: string, version: string, source: string])[]) =>
  packages
    .map(
      ([name, version, source]) =>
        `[[package]]\nname = "${name}"\nversion = "${version}"\nsource = "${source}"\n`,
    )
    .join('\n')

const IO = 'registry+https://github.com/rust-lang/crates.io-index'

test('a lock file says what a program ships with, of a library and beyond limits it says nothing', async t => {
  const registry = await newRegistry(t)
  const own = 'sparse+https://crates.example/index/'
  const text = packaged(
    ['low', '1.0.0', own],
    ['serde', '1.0.1', IO],
    ['git', '1.0.0', 'git+https://a'],
  )
  const add = (name: string, files: Readonly<Record<string, string>>, version = '1.0.0') =>
    addCrate(registry, { name, version, files })
  await add('low', { 'src/lib.rs': '' })
  await add('tool', { 'Cargo.lock': text, 'src/main.rs': '' })
  await add('tool', { 'Cargo.lock': text.replaceAll('\n', '\r\n'), 'src/bin/a.rs': '' }, '1.1.0')
  await add('shown', { 'Cargo.lock': text, 'src/lib.rs': '', 'examples/a/main.rs': '' })
  await add('library', { 'Cargo.lock': text, 'src/lib.rs': '' })
  const many = Array.from({ length: 2001 }, (_, at) => ['serde', `1.0.${at}`, IO] as const)
  await add('many', { 'Cargo.lock': packaged(...many), 'src/main.rs': '' })
  await add('long', { 'Cargo.lock': text + '#'.repeat(1024 * 1024), 'src/main.rs': '' })
  await render(registry)
  const way = (requirement: string, from: string | null, ...versions: string[]) => ({
    ...{ requirement, kind: 'ships with', registry: from, versions },
  })
  assert.deepEqual(dependentsFiles(registry), [
    'dependents/low/all.json',
    'dependents/serde/all.json',
  ])
  assert.deepEqual(dependentsOf(registry, 'low/all'), [
    { crate: 'shown', requires: [way('=1.0.0', null, '1.0.0')] },
    { crate: 'tool', requires: [way('=1.0.0', null, '1.0.0', '1.1.0')] },
  ])
  const io = IO.slice('registry+'.length)
  assert.deepEqual(dependentsOf(registry, 'serde/all'), [
    { crate: 'shown', requires: [way('=1.0.1', io, '1.0.0')] },
    { crate: 'tool', requires: [way('=1.0.1', io, '1.0.0', '1.1.0')] },
  ])
  assert.match(publicText(registry, 'dependents/low/index.html'), /badge">ships with</)
  assert.deepEqual(await findingsOf(verify(registry, { served: false, repair: false })), [])
  await remove(registry, 'tool', '1.1.0')
  await remove(registry, 'shown', '1.0.0')
  await render(registry)
  const left = [{ crate: 'tool', requires: [way('=1.0.0', null, '1.0.0')] }]
  assert.deepEqual(dependentsOf(registry, 'low/all'), left)
  // Those that were published before are read by `build --all`.
  await run(registry.database, 'UPDATE releases SET locked = NULL')
  const every = 'SELECT id AS subject, generation FROM crates'
  await registry.database.transaction(tx => markSelected(tx, 'dependents', every))
  await render(registry)
  assert.deepEqual(dependentsFiles(registry), [])
  await readLocks(registry)
  await render(registry)
  assert.deepEqual(dependentsOf(registry, 'low/all'), left)
})
