// Mirrors examples/own-registry.mjs, with real Cargo
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { watch } from '../support/command.ts'
import { freePort } from '../support/loopback.ts'
import { writeProject } from '../support/project.ts'
import { until } from '../support/until.ts'
import { folderOf } from '../support/workplace.ts'
import { writeCrate } from '../support/write-crate.ts'
import { withPackage } from './package.ts'

test('a program takes .crate files, yanks, and serves them to Cargo; started again, it takes new ones', async t => {
  const folder = folderOf(t)
  const incoming = join(folder, 'incoming')
  for (const version of ['1.0.0', '1.1.0'])
    writeCrate(join(incoming, `demo-${version}.crate`), { name: 'demo', version })
  writeFileSync(join(incoming, 'yanked.txt'), 'demo 1.1.0\n')
  const port = await freePort()
  const first = await start(t, folder, port)
  assert.match(first.said(), /^added demo 1\.0\.0$/m)
  assert.match(first.said(), /^yanked demo 1\.1\.0$/m)
  assert.deepEqual(readdirSync(incoming), ['yanked.txt'])

  const url = `http://127.0.0.1:${port}`
  const page = await fetch(`${url}/crates/demo/`)
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html'])
  for (const path of ['/index/no/ne/none', '/%2e%2e/plimsoll.toml', '/..%2fplimsoll.toml', '/%00'])
    assert.equal((await fetch(url + path)).status, 404, path)
  const index = `sparse+${url}/index/`
  const settings = { registries: { own: index }, cratesIo: index }
  const cargo = new Cargo(join(folder, 'cargo'), settings)
  const user = writeProject(join(folder, 'user'), { name: 'user' })
  const added = await cargo.ok(user.folder, 'add', 'demo', '--registry', 'own')
  assert.match(added.stderr, /Adding demo v1\.0\.0/)
  await cargo.ok(user.folder, 'fetch')
  await first.end()

  writeCrate(join(incoming, 'demo-1.2.0.crate'), { name: 'demo', version: '1.2.0' })
  const second = await start(t, folder, port)
  assert.match(second.said(), /^added demo 1\.2\.0$/m)
  await cargo.ok(user.folder, 'update', '--package', 'demo', '--precise', '1.2.0')
})

test('it names every objection to a file, and keeps the file', async t => {
  const folder = folderOf(t)
  writeCrate(join(folder, 'incoming', 'demo.crate'), new TextEncoder().encode('no archive'))
  const ended = await start(t, folder, await freePort())
  assert.equal(await ended.ended, 1, ended.said())
  assert.match(ended.said(), /^archive_not_gzip: /m)
  assert.ok(existsSync(join(folder, 'incoming', 'demo.crate')))
})

async function start(t: TestContext, folder: string, port: number) {
  const program = withPackage(folder, 'own-registry.mjs')
  const child = spawn(process.execPath, [program, String(port), 'incoming'], { cwd: folder })
  const { said, ended } = watch(child)
  const end = async () => {
    child.kill('SIGINT')
    await ended
  }
  new Cleanup(t).add(end)
  await until(() => /^serving /m.test(said()) || child.exitCode !== null, said)
  return { said, ended, end }
}
