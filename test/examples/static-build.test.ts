// Mirrors examples/static-build.mjs, with real Cargo
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { run } from '../support/command.ts'
import { root } from '../support/plimsoll.ts'
import { writeProject, writeWorkspace } from '../support/project.ts'
import { serveFiles } from '../support/static-server.ts'
import { folderOf } from '../support/workplace.ts'

test('it packs new versions alone, renders and checks the tree, and Cargo builds from it', async t => {
  const cleanup = new Cleanup(t)
  const folder = folderOf(t)
  const out = join(folder, 'public')
  const site = await serveFiles(out)
  cleanup.add(() => site.close())
  const index = `sparse+${site.url}/index/`
  const cargo = new Cargo(join(folder, 'cargo'), { registries: { own: index }, cratesIo: index })
  const workspace = join(folder, 'workspace')
  const toml = '[dependencies]\nbase = { path = "../base", version = "1.0.0", registry = "own" }'
  const [base] = writeWorkspace(workspace, [
    { name: 'base' },
    { name: 'app', toml },
    { name: 'internal', package: 'publish = false' },
  ])
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(join(root, 'dist', 'program', 'cli.js'), join(bin, 'plimsoll'))
  const build = async () => {
    const args = [join(root, 'examples', 'static-build.mjs'), workspace, 'crates', out, site.url]
    const env = {
      ...process.env,
      PATH: [bin, process.env.PATH ?? ''].join(delimiter),
      CARGO_HOME: cargo.home,
    }
    return run(process.execPath, args, { cwd: folder, env, timeoutMs: 150_000 })
  }

  const first = await build()
  assert.equal(first.code, 0, first.stdout + first.stderr)
  assert.match(first.stdout, /^packed base 1\.0\.0\npacked app 1\.0\.0\n2 versions of 2 crates/)
  assert.match(readFileSync(join(folder, 'check.xml'), 'utf8'), /<testsuite/)
  const user = writeProject(join(folder, 'user'), { name: 'user' })
  await cargo.ok(user.folder, 'add', 'app', '--registry', 'own')
  await cargo.ok(user.folder, 'build')

  // A published version stays as it is, whatever the sources say.
  const before = readFileSync(join(folder, 'crates', 'app-1.0.0.crate'))
  appendFileSync(join(workspace, 'app', 'src', 'lib.rs'), '// changed\n')
  writeProject(base?.folder ?? '', { name: 'base', version: '1.1.0' })
  const second = await build()
  assert.match(second.stdout, /^packed base 1\.1\.0\n3 versions of 2 crates/, second.stderr)
  assert.deepEqual(readFileSync(join(folder, 'crates', 'app-1.0.0.crate')), before)
  const files = ['app-1.0.0.crate', 'base-1.0.0.crate', 'base-1.1.0.crate']
  assert.deepEqual(readdirSync(join(folder, 'crates')).sort(), files)
})

test('it ends with the code of the command that fails', async t => {
  const folder = folderOf(t)
  writeWorkspace(folder, [{ name: 'demo', package: 'no toml' }])
  const args = [join(root, 'examples', 'static-build.mjs'), '.', 'crates', 'public', 'https://a.b']
  const ended = await run(process.execPath, args, { cwd: folder, env: process.env })
  assert.equal(ended.code, 101)
  assert.match(ended.stderr, /^cargo metadata .+ ended with 101$/m)
})
