// Mirrors generator/registry/changes/check.ts: targets of dependencies, as Cargo prints them
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEntry } from '../../../core/entry/parse.ts'
import { build } from '../../../generator/pages/build.ts'
import { Cargo } from '../../support/cargo.ts'
import { writeProject } from '../../support/project.ts'
import { addCrate, folderOf, newRegistry, publicText } from '../../support/workplace.ts'

const WRITTEN = [
  'cfg(target_os="wasi")',
  'cfg( unix )',
  'cfg(all(unix,not(any(target_os="a b",windows ,)),))',
  'cfg(any())',
  'cfg(target_arch = "x86")',
  'x86_64-unknown-linux-gnu',
]

test('the targets of an entry are printed as Cargo prints them', async t => {
  const folder = folderOf(t)
  const index = 'sparse+http://127.0.0.1:1/index/'
  const cargo = new Cargo(join(folder, 'home'), { registries: { test: index }, cratesIo: index })
  const toml = WRITTEN.map(
    (target, at) => `[target.'${target}'.dependencies]\ndep${at} = "1"\n`,
  ).join('')
  const project = writeProject(join(folder, 'demo'), { name: 'demo', toml })
  const { stdout } = await cargo.ok(
    project.folder,
    'metadata',
    '--no-deps',
    '--format-version=1',
    '--offline',
  )
  type Dependencies = readonly { readonly name: string; readonly target: string }[]
  const { packages } = JSON.parse(stdout) as { packages: [{ dependencies: Dependencies }] }
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0', manifest: toml })
  await build(registry)
  const entry = parseEntry(publicText(registry, 'index/de/mo/demo').trimEnd())
  const targets = (list: readonly { name: string; target: string | null }[]) =>
    list.map(({ name, target }) => `${name} ${target}`).sort()
  assert.deepEqual(targets(entry.deps), targets(packages[0].dependencies))
})
