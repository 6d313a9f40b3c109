import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildEvil, type CrateParts } from '../../support/crate-builder.ts'
import { filesBelow } from '../../support/folder.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

test('add puts lost bytes back, whatever has become of the version since', async t => {
  const { folder, dir, run, ok, put } = await registryFolder(t)
  await ok('user', 'add', 'admin', '--admin')
  await ok('user', 'add', 'ann')
  const versions: readonly (readonly [version: string, parts?: Partial<CrateParts>])[] = [
    ['1.0.0'],
    ['1.1.0'],
    ['1.2.0', { files: { 'src/large.txt': 'x'.repeat(2_000_000) } }],
  ]
  for (const [version, parts] of versions)
    put(`old/demo-${version}.crate`, { name: 'demo', version, ...parts })
  await ok('import', '--as', 'crates', join(folder, 'old'), '--owner', 'ann')
  await ok('yank', 'demo@1.0.0')
  await ok('user', 'lock', 'ann')
  rmSync(join(dir, 'public'), { recursive: true })
  const store = join(dir, 'crates')
  const [spoilt = '', ...missing] = filesBelow(store)
  chmodSync(join(store, spoilt), 0o644)
  writeFileSync(join(store, spoilt), 'spoilt')
  for (const path of missing) rmSync(join(store, path))
  for (const repair of [[], ['--repair']]) {
    const verified = await run('verify', ...repair)
    assert.equal(verified.code, 1)
    const cure =
      /^lost: demo@1\.\d\.0: the bytes .*; put them back with `plimsoll add FILE`, or from/gm
    assert.equal(verified.stdout.match(cure)?.length, 3, verified.stdout)
    assert.match(verified.stdout, /; 3 lost\n$/)
  }
  // Rules and limits that the versions do not meet.
  const strict = ['--set', 'policy.preset=public', '--set', 'limits.crate_bytes=1024']
  const again = async (version: string) =>
    run('add', join(folder, 'old', `demo-${version}.crate`), '--json', ...strict)
  for (const [version] of versions) {
    const ended = await again(version)
    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(JSON.parse(ended.stdout)[0].outcome, 'present')
    assert.match(ended.stderr, /the missing bytes were put back/)
    assert.match((await again(version)).stderr, /with the same bytes; nothing has changed/)
  }
  await ok('build')
  assert.equal(await ok('verify'), 'everything agrees\n')
  const lines = readFileSync(join(dir, 'public/index/de/mo/demo'), 'utf8').trim().split('\n')
  assert.deepEqual(
    lines.map(line => JSON.parse(line).yanked),
    [true, false, false],
  )
  // What was deleted comes back under stricter rules, and only with the same bytes.
  await ok('delete', 'demo@1.1.0', '--yes')
  put('other.crate', { name: 'demo', version: '1.1.0', files: { 'README.md': 'other' } })
  const other = await run('add', join(folder, 'other.crate'), '--set', 'policy.preset=public')
  assert.equal(other.code, 1)
  await ok('add', join(folder, 'old', 'demo-1.1.0.crate'), '--set', 'policy.preset=public')
  await ok('backup', join(folder, 'one.tar'))
})

test('what is deleted comes back by the command that its refusal names', async t => {
  const { folder, run, ok, put } = await registryFolder(t)
  put('old/demo-1.0.0.crate', { name: 'demo', version: '1.0.0' })
  const evil = buildEvil('same path twice', { name: 'demo', version: '1.1.0' })
  const odd = put('old/demo-1.1.0.crate', evil)
  await ok('import', '--as', 'crates', join(folder, 'old'))
  await ok('delete', 'demo@1.1.0', '--yes')
  // A folder with many may name it by chance.
  const all = await run('import', '--as', 'crates', join(folder, 'old'))
  assert.match(
    all.stderr,
    /1\.1\.0 was deleted here; `plimsoll add` with its \.crate brings it back/,
  )
  const added = await run('add', odd)
  assert.match(added.stderr, /`plimsoll import FILE --as crates` takes it over/)
  const other = put('other.crate', { name: 'demo', version: '1.1.0' })
  assert.equal((await run('import', '--as', 'crates', other)).code, 1)
  assert.match(await ok('import', '--as', 'crates', odd), /^1 added/)
  assert.equal(await ok('verify'), 'everything agrees\n')
})

test('a folder with the name of a .crate is named beside broken files, and others are added', async t => {
  const folder = folderOf(t)
  const run = (...args: string[]) =>
    plimsollHere(args, { PLIMSOLL_GIT_INDEX: 'off' }, { cwd: folder })
  const base = ['--base-url', 'https://crates.example']
  await run('init', ...base)
  mkdirSync(join(folder, 'in', 'x.crate', 'src'), { recursive: true })
  mkdirSync(join(folder, 'in', 'deep.crate'))
  writeCrate(join(folder, 'in', 'deep.crate', 'deep.crate'), { name: 'deep', version: '1.0.0' })
  writeCrate(join(folder, 'in', 'demo.crate'), { name: 'demo', version: '1.0.0' })
  const told =
    'error: in/x.crate: it is a folder without a .crate file, though its name is that of one; rename or remove it\n'
  for (const [sources, added] of [
    [['in/x.crate'], /^$/],
    [['in/x.crate', 'in/demo.crate'], /added demo 1\.0\.0/],
    [['in'], /added deep/],
  ] as const) {
    const { code, stdout, stderr } = await run('add', ...sources)
    assert.deepEqual([code, stderr.replace(/^warning: .*\n/, '')], [1, told])
    assert.match(stdout, added)
  }
  const build = ['build', '--from', 'in', '--out', 'public', ...base]
  const refused = await run(...build)
  assert.deepEqual([refused.code, refused.stderr.includes(told.slice(7))], [1, true])
  const { code, stdout, stderr } = await run(...build, '--skip-bad')
  assert.deepEqual([code, stderr.includes(told.slice(7))], [1, true])
  assert.match(stdout, /2 crates/)
})
