import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PackWriter } from '../../../generator/git/static-repository.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { FileServer } from '../../support/file-server.ts'
import { fileStamps, filesBelow, treeDigest } from '../../support/folder.ts'
import { git } from '../../support/git.ts'
import { plimsollHere } from '../../support/program.ts'
import { writeProject } from '../../support/project.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'
const ON = { PLIMSOLL_GIT_INDEX: 'on' }

/** A folder of crates, and the command that makes a tree of it. */
function scene(t: TestContext) {
  const folder = folderOf(t)
  const put = (name: string, version: string) =>
    writeCrate(join(folder, 'from', `${name}-${version}.crate`), { name, version })
  const build = (env: NodeJS.ProcessEnv = ON, base = BASE, out = 'out') => {
    const words = ['build', '--from', 'from', '--out', out, '--base-url', base, '--no-cache']
    return plimsollHere(words, env, { cwd: folder })
  }
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
  for (const file of files) {
    const text = readFileSync(join(out, 'index', file), 'utf8').trim()
    assert.equal(git(repository, 'show', `HEAD:${file}`), text)
  }
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
  const packs = filesBelow(repository).filter(path => path.endsWith('.pack'))
  assert.equal(packs.length, 1, 'the old pack is gone')
  rmSync(join(folder, 'from', 'later-1.0.0.crate'))
  expectCode('build', await build(), 0)
  assert.equal(treeDigest(out), treeDigest(join(folder, 'elsewhere')))

  for (const index of ['auto', 'off']) {
    expectCode('build', await build({ PLIMSOLL_GIT_INDEX: index }), 0)
    assert.equal(existsSync(repository), false, index)
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

test('cargo reads it from a dumb file server by git, also after it has changed', async t => {
  const { folder, put, build, out } = scene(t)
  mkdirSync(out)
  const server = await FileServer.start(new Cleanup(t), out)
  const index = `${server.url}/index.git`
  const cargo = new Cargo(join(folder, 'cargo'), {
    registries: { plimsoll: index },
    cratesIo: index,
    env: { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
  })
  const locked = async (...needs: string[]) => {
    expectCode('build', await build(ON, server.url), 0)
    const lines = needs.map(need => `${need} = { version = "*", registry = "plimsoll" }\n`)
    const toml = `[dependencies]\n${lines.join('')}`
    const project = writeProject(join(folder, 'project'), { name: 'user', toml })
    await cargo.ok(project.folder, 'fetch')
    return readFileSync(join(project.folder, 'Cargo.lock'), 'utf8')
  }
  assert.match(await locked('demo'), /name = "demo"\nversion = "1\.1\.0"/)
  put('later', '2.0.0')
  assert.match(await locked('demo', 'later'), /name = "later"\nversion = "2\.0\.0"/)
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
  const again = join(folder, 'again.idx')
  const words = ['index-pack', '--index-version=2', '-o', again, join(folder, `pack-${name}.pack`)]
  execFileSync('git', words)
  assert.deepEqual(readFileSync(again), index)
})
