// Mirrors generator/projections/dependents: files are compared with what a whole build writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { findingsOf } from '../../support/findings.ts'
import { fileStamps, filesBelow } from '../../support/folder.ts'
import { ownDependency } from '../../support/release.ts'
import { addCrate, newRegistry, OPERATOR, publicText } from '../../support/workplace.ts'

const onOwn = (name: string, req: string) =>
  ownDependency(name, { req, index: 'sparse+https://crates.example/index/' }).manifest

const files = ({ tree }: Registry) =>
  filesBelow(tree.root).filter(path => /^dependents\/.*json$/.test(path))

const dependentsOf = (registry: Registry, file: string) =>
  JSON.parse(publicText(registry, `dependents/${file}.json`)).dependents

async function render(registry: Registry): Promise<void> {
  await build(registry)
  await buildPages(registry)
}

async function remove(registry: Registry, crate: string, version: string): Promise<void> {
  const wanted = { name: parseName(crate), version: parseVersion(version), force: true }
  await deleteReleases(registry, wanted, OPERATOR)
}

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
  assert.deepEqual(files(registry), [
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
  const written = files(registry).filter(path => before[path] !== after[path])
  assert.deepEqual(written, ['dependents/low/all.json'])
  await remove(registry, 'app', '1.1.0')
  await render(registry)
  assert.deepEqual(files(registry), ['dependents/low/all.json', 'dependents/serde/all.json'])
  const left = [way('^1', 'normal', null, '1.0.0'), way('^2', 'normal', null, '1.2.0')]
  assert.deepEqual(dependentsOf(registry, 'low/all'), [{ crate: 'app', requires: left }])
  await registry.tree.removeFolder('dependents/low')
  const missing = ['all.json', 'index.html'].map(
    file => `repaired dependents/low/${file}: the page is missing`,
  )
  assert.deepEqual(await findingsOf(verify(registry, { repair: true, served: false })), missing)
  assert.deepEqual(dependentsOf(registry, 'low/all'), [{ crate: 'app', requires: left }])
})
