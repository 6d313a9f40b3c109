// Mirrors generator/import/: real Cargo before and after
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { FileServer } from '../../support/file-server.ts'
import { MargoTree } from '../../support/margo.ts'
import { root } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { writeProject } from '../../support/project.ts'
import { scratch } from '../../support/scratch.ts'

/** 20 crates with 10 versions each: renames, features, yanked and pre-release versions, requirements that pull about. */
function fill(old: MargoTree): void {
  for (let number = 0; number < 20; number++)
    for (let minor = 0; minor < 10; minor++) {
      const registry = old.indexUrl
      const needs = [
        { name: 'Upper_0', req: `>=1.${minor % 5}, <1.8`, registry },
        { name: 'alias', package: 'lower-1', req: '~1.4', optional: true, registry },
      ]
      const deps = number < 2 ? [] : needs
      const features = { extra: number < 2 ? [] : ['dep:alias'] }
      const tables = deps.map(
        ({ name, req, ...rest }) => `[dependencies.${name}]\nversion = "${req}"
registry-index = "${registry}"\n${'package' in rest ? 'package = "lower-1"\noptional = true\n' : ''}`,
      )
      old.add({
        name: number % 4 === 0 ? `Upper_${number}` : `lower-${number}`,
        version: minor === 9 ? '2.0.0-rc.1' : `1.${minor}.0`,
        yanked: minor === 8 || (minor === 7 && number % 3 === 0),
        deps,
        features,
        manifest: `[features]\nextra = ${JSON.stringify(features.extra)}\n${tables.join('')}`,
      })
    }
}

test('after an import Cargo resolves and builds what it did before', {
  timeout: 240_000,
}, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const root = join(folder, 'old')
  mkdirSync(root)
  const before = await FileServer.start(cleanup, root)
  const old = new MargoTree(root, `${before.url}/`)
  fill(old)
  const nothing = join(folder, 'nothing')
  mkdirSync(nothing)
  const standIn = await FileServer.start(cleanup, nothing)
  writeFileSync(join(nothing, 'config.json'), JSON.stringify({ dl: standIn.url }))

  const dir = join(folder, 'new')
  const after = await startOver(cleanup, dir)
  const ended = expectCode('plimsoll import', await plimsollHere(['import', root, '--dir', dir]), 0)
  assert.equal(ended.stdout, '200 added, 0 refused\n')
  expectCode('plimsoll verify', await plimsollHere(['verify', '--dir', dir]), 0)

  const locks: string[] = []
  for (const [at, index] of [old.indexUrl, `sparse+${after.url}/index/`].entries()) {
    const needs = ['Upper_16', 'lower-3', 'lower-17'].map(
      name => `[dependencies.${name}]\nversion = "1"\nregistry = "local"\nfeatures = ["extra"]\n`,
    )
    const project = writeProject(join(folder, `project-${at}`), {
      name: 'consumer',
      toml: needs.join(''),
    })
    const settings = { registries: { local: index }, cratesIo: `sparse+${standIn.url}/` }
    const cargo = new Cargo(join(folder, `home-${at}`), settings)
    await cargo.ok(project.folder, 'check')
    locks.push(readFileSync(join(project.folder, 'Cargo.lock'), 'utf8').replaceAll(index, 'INDEX'))
    // Gone, so that the second round cannot live on it.
    if (at === 0) rmSync(join(root, 'config.json'))
  }
  const [lockBefore = '', lockAfter = ''] = locks
  assert.equal(lockAfter, lockBefore)
  assert.equal(lockBefore.split('[[package]]').length - 1, 6)
})

test('after an import Cargo installs what names the old address, with the lines of docs/run/move.md', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const server = await FileServer.start(cleanup, folder)
  const old = new MargoTree(join(folder, 'old'), `${server.url}/old/`)
  old.add({ name: 'needed', version: '1.0.0', files: { 'src/lib.rs': '' } })
  old.add({
    name: 'tool',
    version: '1.0.0',
    deps: [{ name: 'needed', req: '^1', registry: old.indexUrl }],
    manifest: `[dependencies.needed]\nversion = "1"\nregistry-index = "${old.indexUrl}"\n`,
    files: { 'src/main.rs': 'fn main() {}' },
  })
  const dir = join(folder, 'new')
  const { url } = await startOver(cleanup, dir)
  expectCode('import', await plimsollHere(['import', old.root, '--dir', dir]), 0)
  rmSync(old.root, { recursive: true })
  const lines = /^```toml\n(\[source\.plimsoll-old\][^`]+)^```/m
  const text = readFileSync(join(root, 'docs', 'run', 'move.md'), 'utf8')
  const config = lines
    .exec(text)?.[1]
    ?.replace('sparse+https://old.example.com/index/', old.indexUrl)
  const registries = { plimsoll: `sparse+${url}/index/` }
  const settings = { registries, cratesIo: null }
  const args = ['install', 'tool', '--registry', 'plimsoll'] as const
  const { stderr } = await new Cargo(join(folder, 'without'), settings).fails(folder, ...args)
  assert.match(stderr, /failed to get `needed`/)
  assert.ok(config)
  await new Cargo(join(folder, 'with'), { ...settings, config }).ok(folder, ...args)
})

/** A new registry behind a dumb file server over its public tree. */
async function startOver(cleanup: Cleanup, dir: string): Promise<FileServer> {
  mkdirSync(join(dir, 'public'), { recursive: true })
  const server = await FileServer.start(cleanup, join(dir, 'public'))
  const init = ['init', '--dir', dir, '--base-url', server.url, '--api', 'none']
  expectCode('plimsoll init', await plimsollHere(init), 0)
  return server
}
