import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PackWriter } from '../../../generator/git/static-repository.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode, run } from '../../support/command.ts'
import { FileServer } from '../../support/file-server.ts'
import { fileStamps, filesBelow, treeDigest } from '../../support/folder.ts'
import { git } from '../../support/git.ts'
import { plimsoll } from '../../support/plimsoll.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'
const ON = { PLIMSOLL_GIT_INDEX: 'on' }

/** A folder of crates, and the command that makes a tree of it. */
function scene(t: TestContext) {
  const folder = folderOf(t)
  const put = (name: string, version: string) =>
    writeCrate(join(folder, 'from', `${name}-${version}.crate`), { name, version })
  const build = (env: NodeJS.ProcessEnv = ON, base = BASE, out = 'out') =>
    plimsoll(
      folder,
      ['build', '--from', 'from', '--out', out, '--base-url', base, '--no-cache'],
      env,
    )
  put('demo', '1.0.0')
  put('demo', '1.1.0')
  put('Other-One', '0.1.0')
  put('a', '1.0.0')
  return { folder, put, build, out: join(folder, 'out') }
}

test('with git.index = "on" a static tree has the index as a git repository, equal bytes for equal files', async t => {
  const { folder, put, build, out } = scene(t)
  expectCode('build', await build(), 0)
  const repository = join(out, 'index.git')
  git(repository, 'fsck', '--strict', '--full')
  const files = git(repository, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')
  assert.deepEqual(files, filesBelow(join(out, 'index')))
  for (const file of files)
    assert.equal(
      git(repository, 'show', `HEAD:${file}`),
      readFileSync(join(out, 'index', file), 'utf8').trim(),
    )
  assert.equal(git(repository, 'rev-list', '--count', 'HEAD'), '1')
  assert.equal(git(repository, 'log', '-1', '--format=%an %at %cn %ct'), 'Plimsoll 0 Plimsoll 0')
  const stamps = fileStamps(out)
  assert.match((await build()).stdout, / 0 files changed /)
  assert.deepEqual(fileStamps(out), stamps)
  expectCode('build', await build(ON, BASE, 'elsewhere'), 0)
  assert.equal(treeDigest(join(folder, 'elsewhere')), treeDigest(out))

  put('later', '1.0.0')
  expectCode('build', await build(), 0)
  git(repository, 'fsck', '--strict', '--full')
  assert.match(git(repository, 'ls-tree', '-r', '--name-only', 'HEAD'), /la\/te\/later/)
  assert.equal(
    filesBelow(repository).filter(path => path.endsWith('.pack')).length,
    1,
    'the old pack is gone',
  )
  rmSync(join(folder, 'from', 'later-1.0.0.crate'))
  expectCode('build', await build(), 0)
  assert.equal(treeDigest(out), treeDigest(join(folder, 'elsewhere')))

  for (const index of ['auto', 'off']) {
    expectCode('build', await build({ PLIMSOLL_GIT_INDEX: index }), 0)
    assert.deepEqual(
      filesBelow(out).filter(path => path.startsWith('index.git')),
      [],
      index,
    )
    expectCode('build', await build(), 0)
  }
})

test('a git repository that something else has made is left alone', async t => {
  const { build, out } = scene(t)
  expectCode('build', await build({}), 0)
  const repository = join(out, 'index.git')
  execFileSync('git', ['init', '-q', '--bare', repository])
  const before = treeDigest(repository)
  const refused = await build()
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /^error: `.*index\.git` was not made by `plimsoll build --from`/)
  expectCode('build', await build({}), 0)
  assert.equal(treeDigest(repository), before)
})

test('git and cargo read it from a dumb file server, also after it has changed', async t => {
  const { folder, put, build, out } = scene(t)
  const cleanup = new Cleanup(t)
  mkdirSync(out)
  const server = await FileServer.start(cleanup, out)
  expectCode('build', await build(ON, server.url), 0)
  const clone = join(folder, 'clone')
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' }
  expectCode(
    'git clone',
    await run('git', ['clone', '-q', `${server.url}/index.git`, clone], { cwd: folder, env }),
    0,
  )
  assert.deepEqual(
    filesBelow(clone).filter(path => !path.startsWith('.git/')),
    filesBelow(join(out, 'index')),
  )

  const index = `${server.url}/index.git`
  const settings = {
    registries: { plimsoll: index },
    cratesIo: index,
    env: { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
  }
  const cargo = new Cargo(join(folder, 'cargo'), settings)
  const project = join(folder, 'project')
  mkdirSync(join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'src', 'lib.rs'), '')
  const manifest = (dependencies: string) =>
    writeFileSync(
      join(project, 'Cargo.toml'),
      `[package]\nname = "user"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${dependencies}`,
    )
  manifest('demo = { version = "1", registry = "plimsoll" }\n')
  await cargo.ok(project, 'fetch')
  assert.match(
    readFileSync(join(project, 'Cargo.lock'), 'utf8'),
    /name = "demo"\nversion = "1\.1\.0"/,
  )

  put('later', '2.0.0')
  expectCode('build', await build(ON, server.url), 0)
  manifest(
    'demo = { version = "1", registry = "plimsoll" }\nlater = { version = "2", registry = "plimsoll" }\n',
  )
  await cargo.ok(project, 'fetch')
  assert.match(
    readFileSync(join(project, 'Cargo.lock'), 'utf8'),
    /name = "later"\nversion = "2\.0\.0"/,
  )
})

test('a pack holds objects of every size, and each once', async t => {
  const path = join(folderOf(t), 'objects.git')
  execFileSync('git', ['init', '-q', '--bare', path])
  const writer = new PackWriter()
  const sizes = [0, 1, 15, 16, 2047, 2048, 65_534, 65_535, 65_536, 200_000]
  const ids = sizes.map(size => writer.add('blob', Buffer.alloc(size, size % 251)))
  assert.equal(writer.add('blob', Buffer.alloc(15, 15)), ids[2])
  const { name, pack, index } = writer.finish()
  const folder = join(path, 'objects', 'pack')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `pack-${name}.pack`), pack)
  writeFileSync(join(folder, `pack-${name}.idx`), index)
  git(path, 'verify-pack', join(folder, `pack-${name}.idx`))
  for (const [at, id] of ids.entries())
    assert.equal(git(path, 'cat-file', '-s', id), `${sizes[at]}`)
  // Git makes the very same index of it.
  execFileSync('git', [
    'index-pack',
    '--index-version=2',
    '-o',
    join(folder, 'again.idx'),
    join(folder, `pack-${name}.pack`),
  ])
  assert.deepEqual(readFileSync(join(folder, 'again.idx')), index)
})
