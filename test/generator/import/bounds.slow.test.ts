// Mirrors generator/import/source/: what would never end, or needs more memory than there is
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { report, takeOver } from '../../support/import.ts'
import { MargoTree } from '../../support/margo.ts'
import { plimsollHere } from '../../support/program.ts'
import { folderOf, newRegistry } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const TB = 1024 ** 4

/** What stands in the place of a file, and what is said of it. */
const STRANGE: readonly [what: string, put: (path: string) => void, said: string][] = [
  ['a pipe', path => execFileSync('mkfifo', [path]), 'is neither a file nor a folder'],
  ['a device', path => symlinkSync('/dev/zero', path), 'is neither a file nor a folder'],
  ['a file of 1 TB', path => sparse(path), 'is larger than the limit'],
  ['a folder', path => mkdirSync(path), 'is a folder, where a file is needed'],
]

/** A file that has no bytes on the disk, and as many as a disk. */
function sparse(path: string, size = TB): void {
  writeFileSync(path, '')
  truncateSync(path, size)
}

/** Takes a source over; returns what is said of it. */
async function said(t: TestContext, source: string, crates?: string): Promise<string> {
  try {
    const registry = await newRegistry(t)
    return report((await takeOver(registry, source, crates ? { crates } : {})).outcomes)
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

function tree(t: TestContext): MargoTree {
  const old = new MargoTree(join(folderOf(t), 'old'), 'https://old.example/')
  old.add({ name: 'demo', version: '1.0.0' })
  return old
}

/** A folder as `cargo vendor` makes it, with the `.crate` files in it. */
function vendored(t: TestContext): string {
  const root = folderOf(t)
  mkdirSync(join(root, 'demo'))
  writeCrate(join(root, 'demo-1.0.0.crate'), { name: 'demo', version: '1.0.0' })
  writeFileSync(
    join(root, 'demo/.cargo-checksum.json'),
    `{"files":{},"package":"${'0'.repeat(64)}"}`,
  )
  writeFileSync(join(root, 'demo/Cargo.toml'), '[package]\nname = "demo"\nversion = "1.0.0"\n')
  return root
}

function git(folder: string, args: readonly string[], input = ''): string {
  const who = ['-c', 'user.name=T', '-c', 'user.email=t@localhost']
  return execFileSync('git', ['-C', folder, ...who, ...args], { input, encoding: 'utf8' }).trim()
}

/** A bare repository of an index. */
function repository(t: TestContext): string {
  const { root } = tree(t)
  rmSync(join(root, 'crates'), { recursive: true })
  git(root, ['init', '--quiet'])
  git(root, ['add', '.'])
  git(root, ['commit', '--quiet', '--message', 'index'])
  const bare = join(folderOf(t), 'index.git')
  git(root, ['clone', '--quiet', '--bare', root, bare])
  return bare
}

for (const [what, put, message] of STRANGE) {
  const cases: [file: string, make: (t: TestContext) => string][] = [
    ['config.json', t => tree(t).root],
    ['demo/.cargo-checksum.json', vendored],
    ['demo/Cargo.toml', vendored],
  ]
  for (const [file, make] of cases)
    test(`${what} as ${file} ends an import`, { timeout: 30_000 }, async t => {
      const root = make(t)
      rmSync(join(root, file))
      put(join(root, file))
      const text = await said(t, root)
      assert.ok(text.includes(`${join(root, file)} ${message}`), text)
    })
}

test('a pipe in the place of an index file is refused, and the rest goes on', async t => {
  const old = tree(t)
  old.add({ name: 'other', version: '1.0.0' })
  const path = join(old.root, 'de/mo/demo')
  rmSync(path)
  execFileSync('mkfifo', [path])
  const text = await said(t, old.root)
  assert.ok(text.includes(`${path} is neither a file nor a folder`), text)
  assert.match(text, /^other 1\.0\.0 added/m)
})

for (const file of ['config', 'HEAD', 'packed-refs', 'objects/info/alternates', 'refs/heads/x'])
  for (const [what, put, message] of STRANGE.slice(0, 2))
    test(`${what} as ${file} of a git repository ends an import`, { timeout: 30_000 }, async t => {
      const path = repository(t)
      rmSync(join(path, file), { force: true })
      put(join(path, file))
      for (const source of [path, `file://${path}`]) {
        const text = await said(t, source, folderOf(t))
        assert.ok(text.includes(`${join(path, file)} ${message}`), text)
      }
    })

test('a tree with 30^7 paths is no index', { timeout: 120_000 }, async t => {
  const path = repository(t)
  let inner = `100644 blob ${git(path, ['rev-parse', 'HEAD:config.json'])}`
  for (let depth = 0; depth < 7; depth++) {
    const entries = Array.from({ length: 30 }, (_, at) => `${inner}\ta${at}\n`).join('')
    inner = `040000 tree ${git(path, ['mktree'], entries)}`
  }
  const [, , top = ''] = inner.split(' ')
  git(path, ['update-ref', 'HEAD', git(path, ['commit-tree', top], 'bomb')])
  const text = await said(t, path, folderOf(t))
  assert.match(text, /the output of `git ls-tree` for .*index\.git is larger than the limit/)
})

test('a .crate of 1 TB is refused, and does not stand in the way of the one that is meant', {
  timeout: 30_000,
}, async t => {
  const { root } = tree(t)
  const loose = folderOf(t)
  for (const folder of ['a', 'b', 'c']) mkdirSync(join(loose, folder))
  for (const folder of ['a', 'c']) sparse(join(loose, folder, 'demo-1.0.0.crate'))
  writeFileSync(join(loose, 'b/demo-1.0.0.crate'), buildCrate({ name: 'demo', version: '1.0.0' }))
  assert.match(await said(t, root, loose), /^demo 1\.0\.0 added: /)
  const alone = await said(t, loose)
  assert.match(alone, /a\/demo-1\.0\.0\.crate is larger than the limit of 512 MiB/)
  assert.match(alone, /^demo 1\.0\.0 added: /m)
})

test('other commands end, too', { timeout: 60_000 }, async t => {
  const folder = folderOf(t)
  const [pipe, large] = [join(folder, 'pipe'), join(folder, 'demo-1.0.0.crate')]
  const dir = join(folder, 'registry')
  execFileSync('mkfifo', [pipe])
  sparse(large)
  mkdirSync(join(folder, 'from'))
  execFileSync('mkfifo', [join(folder, 'from/plimsoll.toml')])
  await plimsollHere(['init', '--dir', dir, '--base-url', 'https://new.example'])
  // A tree that has 1 TB in the place of what is pushed.
  const [small, pushed] = [join(folder, 'small.crate'), join(folder, 'pushed')]
  writeCrate(small, { name: 'demo', version: '1.0.0' })
  await plimsollHere(['push', small, '--to', pushed, '--base-url', 'https://x.example'])
  sparse(join(pushed, 'crates/demo/demo-1.0.0.crate'))
  const config = join(folder, 'config')
  await plimsollHere(['push', small, '--to', config, '--base-url', 'https://x.example'])
  sparse(join(config, 'index/config.json'), 1900 * 1024 ** 2)
  const out = join(folder, 'out')
  const special = /is neither a file nor a folder/
  const commands: [args: string[], message: RegExp][] = [
    [['build', '--from', join(folder, 'from'), '--out', out], special],
    [['build', '--from', large, '--out', out], /is bigger than/],
    [['add', large, '--dir', dir], /is bigger than/],
    [['add', pipe, '--dir', dir], special],
    [['export', out, '--lock', dir, '--as', 'vendor', '--dir', dir], /registry is a folder, where/],
    [['import', 'sparse+https://x.example/', '--names', dir, '--dir', dir], /registry is a folder/],
    [['restore', dir, '--dir', join(folder, 'restored')], /registry is a folder, where/],
    [['push', large, '--to', out, '--base-url', 'https://x.example'], /is bigger than/],
    [['export', out, '--lock', pipe, '--as', 'vendor', '--dir', dir], special],
    [['restore', pipe, '--dir', join(folder, 'restored')], special],
    [['import', pipe, '--dir', dir], /cannot be imported/],
    [['check', join(folder, 'from')], /./],
    [['push', small, '--to', pushed], /demo-1\.0\.0\.crate/],
    // A file for which there is memory, and no text so long.
    [['push', small, '--to', config], /config\.json is larger than the limit of 8\.0 MiB/],
    [
      ['deploy', '--from', config, '--to', out],
      /config\.json is larger than the limit of 1\.0 GiB/,
    ],
  ]
  for (const [args, message] of commands) {
    const { code, stderr } = await plimsollHere(args)
    assert.notEqual(code, 0, args.join(' '))
    assert.match(stderr, message, args.join(' '))
  }
})
