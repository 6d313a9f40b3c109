// Mirrors generator/projections/dependents: files are compared with what a whole build writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
