// Mirrors generator/import/source/
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Code, Refusal } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { sha256 } from '../../../core/sha256.ts'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { all, column } from '../../../generator/database/statement.ts'
import type { SourceKind } from '../../../generator/import/source/source.ts'
import { openCargoCache } from '../../../generator/import/source/tree.ts'
import { build } from '../../../generator/pages/build.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { lastChange } from '../../../generator/records/marks.ts'
import { listReleases } from '../../../generator/records/releases.ts'
import { addCrateFile } from '../../../generator/registry/changes/add.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate, buildEvil, manifestOf } from '../../support/crate-builder.ts'
import { FileServer } from '../../support/file-server.ts'
import { findingsOf } from '../../support/findings.ts'
import { report, takeOver } from '../../support/import.ts'
import { MargoTree } from '../../support/margo.ts'
import { refusedWith } from '../../support/refusal.ts'
import { insertRows } from '../../support/rows.ts'
import {
  addAndShow,
  folderOf,
  indexEntries,
  newRegistry,
  OPERATOR,
  publicText,
} from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

/** Runs git as nobody in particular. */
function git(folder: string, ...args: string[]): string {
  const settings = ['user.name=Test', 'user.email=test@localhost', 'init.defaultBranch=main']
  const config = settings.flatMap(setting => ['-c', setting])
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...config, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env,
    stdio: 'pipe',
  })
}

function margo(t: TestContext, name = 'old'): MargoTree {
  return new MargoTree(join(folderOf(t), name), 'https://old.example/')
}

/** A git index as other registries keep it, and the folder of its `.crate` files. */
function gitIndex(t: TestContext, dl: string): { index: string; crates: string } {
  const old = margo(t, 'index')
  old.add({ name: 'base', version: '1.0.0' })
  old.add({ name: 'base', version: '1.1.0', yanked: true })
  old.add({
    name: 'user',
    version: '0.1.0',
    deps: [{ name: 'base', req: '^1', registry: 'https://git.example/index.git' }],
  })
  old.write('config.json', JSON.stringify({ dl, api: 'https://old.example' }))
  old.write('README.md', 'not an index file')
  const crates = join(old.root, '..', 'files')
  renameSync(join(old.root, 'crates'), crates)
  git(old.root, 'init', '--quiet')
  git(old.root, 'add', '.')
  git(old.root, 'commit', '--quiet', '--message', 'index')
  git(old.root, 'remote', 'add', 'origin', 'https://git.example/index')
  // What is not committed does not count.
  old.append('base', 'work in progress\n')
  return { index: old.root, crates }
}

test('a git index, as work tree and bare, with the .crate files in a folder', async t => {
  const { index, crates } = gitIndex(t, 'https://old.example/api/v1/crates')
  const bare = join(folderOf(t), 'bare.git')
  git(index, 'clone', '--quiet', '--bare', index, bare)
  for (const source of [index, bare, `file://${bare}`]) {
    const registry = await newRegistry(t)
    const sourceUrl = ['https://git.example/index']
    const taken = await takeOver(registry, source, { crates, sourceUrl })
    assert.deepEqual(taken.sums, { added: 3, present: 0, refused: 0 }, report(taken.outcomes))
    assert.equal(taken.source.kind, 'git')
    await build(registry)
    const lines = indexEntries(registry, 'index/ba/se/base')
    const shown = lines.map(({ vers, yanked }) => `${vers} ${yanked}`)
    assert.deepEqual(shown, ['1.0.0 false', '1.1.0 true'])
    const [dependency] = JSON.parse(publicText(registry, 'index/us/er/user')).deps
    // The clone of the clone does not know the first address.
    assert.equal(dependency.registry, source === index ? null : 'https://git.example/index.git')
  }
})

test('a git index leads to its files by dl, a file URL of this machine', async t => {
  const files = join(folderOf(t), 'some files')
  const dl = `${pathToFileURL(files)}/{prefix}/{crate}/{version}.crate`
  const { index, crates } = gitIndex(t, dl)
  cpSync(crates, files, { recursive: true })
  const { sums, outcomes } = await takeOver(await newRegistry(t), index)
  assert.deepEqual(sums, { added: 3, present: 0, refused: 0 }, report(outcomes))
  // Where the folder has no `.crate`, or only others.
  rmSync(join(index, '.git'), { recursive: true })
  for (const more of [[], ['other-1.0.0.crate']]) {
    for (const name of more) writeFileSync(join(index, name), 'x')
    const tree = await takeOver(await newRegistry(t), index)
    assert.equal(tree.source.kind, 'tree')
    assert.deepEqual([tree.sums.added, tree.sums.refused], [3, 1], report(tree.outcomes))
  }
  // Where the files are no longer, or are no files: nothing is read that has no end.
  rmSync(files, { recursive: true })
  mkdirSync(join(files, 'us', 'er', 'user', '0.1.0.crate'), { recursive: true })
  const gone = await takeOver(await newRegistry(t), index)
  assert.match(report(gone.outcomes), /user 0\.1\.0 refused: there is no \.crate of/)
})

test('a git index leads to its files by dl, over http', async t => {
  const { index, crates } = gitIndex(t, 'file://elsewhere/etc/{crate}/{version}')
  const registry = await newRegistry(t)
  await assert.rejects(takeOver(registry, index), refusedWith('import_dl_foreign'))
  const server = await FileServer.start(new Cleanup(t), crates)
  const { sums, source } = await takeOver(registry, index, {
    crates: `${server.url}/{prefix}/{crate}/{version}.crate`,
  })
  assert.deepEqual(sums, { added: 3, present: 0, refused: 0 })
  assert.deepEqual(source.ownUrls, ['https://git.example/index', 'https://git.example/index.git'])
})

test('a git repository that wants a command to be run gets none', async t => {
  const { index, crates } = gitIndex(t, 'https://old.example/api/v1/crates')
  const bare = join(folderOf(t), 'bare.git')
  git(index, 'clone', '--quiet', '--bare', index, bare)
  const witness = join(folderOf(t), 'witness')
  const script = join(folderOf(t), 'run.sh')
  writeFileSync(script, `#!/bin/sh\ntouch ${witness}\n`, { mode: 0o755 })
  const config: [string, string][] = [
    ['core.repositoryformatversion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', bare],
    ['remote.origin.uploadpack', script],
    ['protocol.file.allow', 'always'],
    ['core.fsmonitor', script],
    ['core.pager', script],
  ]
  for (const [key, value] of config) git(bare, 'config', key, value)
  const blob = git(bare, 'rev-parse', 'HEAD:ba/se/base').trim()
  const objects = join(bare, 'objects')
  for (const name of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
    if (name.replace('/', '') === blob) rmSync(join(objects, name))
  const registry = await newRegistry(t)
  const { sums, outcomes } = await takeOver(registry, bare, { crates })
  assert.deepEqual(sums, { added: 1, present: 0, refused: 1 }, report(outcomes))
  assert.match(report(outcomes), /the git repository does not have [0-9a-f]{40}/)
  assert.throws(() => readFileSync(witness), /ENOENT/)
})

test('a local registry: index/ without config.json and .crate files at the top', async t => {
  const old = margo(t)
  old.add({ name: 'Base', version: '1.0.0' })
  old.add({ name: 'user', version: '0.1.0', deps: [{ name: 'Base', req: '^1' }] })
  const local = folderOf(t)
  cpSync(old.root, join(local, 'index'), { recursive: true })
  rmSync(join(local, 'index', 'config.json'))
  rmSync(join(local, 'index', 'crates'), { recursive: true })
  cpSync(join(old.root, old.cratePath('Base', '1.0.0')), join(local, 'Base-1.0.0.crate'))
  cpSync(join(old.root, old.cratePath('user', '0.1.0')), join(local, 'user-0.1.0.crate'))
  const { sums, source, outcomes } = await takeOver(await newRegistry(t), local)
  assert.equal(source.kind, 'local-registry')
  assert.deepEqual(sums, { added: 2, present: 0, refused: 0 }, report(outcomes))
})

test('the cache of Cargo: the lines of its index, for the versions whose .crate files it has', async t => {
  const old = margo(t)
  const pubtime = '2020-01-02T03:04:05Z'
  old.add({ name: 'base', version: '1.0.0', line: { pubtime } })
  old.add({ name: 'base', version: '1.1.0', yanked: true })
  old.add({ name: 'base', version: '1.2.0' })
  const home = folderOf(t)
  const [index, cache] = ['index', 'cache'].map(name => join(home, 'registry', name, 'old-1f2e'))
  assert.ok(index && cache)
  mkdirSync(join(index, '.cache', 'ba', 'se'), { recursive: true })
  mkdirSync(cache, { recursive: true })
  const parts = old.lines('base').map(line => `${line.vers}\0${JSON.stringify(line)}\0`)
  const file = join(index, '.cache', 'ba', 'se', 'base')
  const body = `etag: "x"\0${parts.join('')}`
  writeFileSync(file, Buffer.concat([Buffer.from([3, 2, 0, 0, 0]), Buffer.from(body)]))
  cpSync(join(old.root, old.cratePath('base', '1.0.0')), join(cache, 'base-1.0.0.crate'))
  mkdirSync(join(cache, 'base-1.1.0.crate'))
  symlinkSync('nowhere', join(cache, 'base-1.2.0.crate'))
  for (const source of [home, join(home, 'registry'), index]) {
    const registry = await newRegistry(t)
    const taken = await takeOver(registry, source)
    assert.equal(taken.source.kind, 'cargo-cache')
    assert.deepEqual(taken.sums, { added: 1, present: 0, refused: 2 }, report(taken.outcomes))
    assert.match(report(taken.outcomes), /1\.2\.0 refused: there is no file or folder .*1\.2\.0/)
    assert.match(report(taken.outcomes), /1\.1\.0 refused: .* is a folder, where a file is needed/)
    await build(registry)
    const lines = indexEntries(registry, 'index/ba/se/base')
    assert.deepEqual([lines.length, lines[0].pubtime], [1, pubtime])
  }
  writeFileSync(file, Buffer.from([4, 2, 0, 0, 0]))
  const { outcomes } = await takeOver(await newRegistry(t), home)
  assert.deepEqual(
    outcomes.map(({ outcome, issues }) => [outcome, issues[0]?.code]),
    [['refused', 'import_cargo_cache']],
  )
})

test('what Cargo has cached of crates.io depends on crates.io where it names no registry', async t => {
  for (const name of ['index.crates.io-1949cf8c6b5b557f', 'github.com-25cdd57fae9f0462']) {
    const home = folderOf(t)
    mkdirSync(join(home, 'registry', 'index', name, '.cache'), { recursive: true })
    mkdirSync(join(home, 'registry', 'cache', name), { recursive: true })
    const { ownUrls } = await openCargoCache(join(home, 'registry', 'index'), name)
    assert.deepEqual(ownUrls, ['https://github.com/rust-lang/crates.io-index'])
  }
})

/** A folder as `cargo vendor` leaves it. */
function vendored(t: TestContext): { vendor: string; cache: string } {
  const [vendor, cache] = [join(folderOf(t), 'vendor'), join(folderOf(t), 'cache')]
  const add = (name: string, checksum: (hex: string) => unknown, bytes?: Uint8Array) => {
    const parts = { name, version: '1.0.0', manifest: '[dependencies]\nlog = "0.4"\n' }
    const crate = bytes ?? buildCrate(parts)
    writeCrate(join(cache, 'index.crates.io-1949cf8c6b5b557f', `${name}-1.0.0.crate`), crate)
    const unpacked = join(vendor, name)
    mkdirSync(unpacked, { recursive: true })
    writeFileSync(join(unpacked, 'Cargo.toml'), manifestOf({ name, version: '1.0.0' }))
    // Newer Cargo explains the file in it.
    const sums = { $comment: 'by Cargo', files: {}, package: checksum(sha256(crate)) }
    writeFileSync(join(unpacked, '.cargo-checksum.json'), JSON.stringify(sums))
  }
  add('one', hex => hex)
  add('linked', hex => hex, buildEvil('symlink', { name: 'linked' }))
  add('from-git', () => null)
  add('other', () => 'a'.repeat(64))
  return { vendor, cache }
}

test('a vendor folder needs the .crate files, from the cache of Cargo', async t => {
  const { vendor, cache } = vendored(t)
  const registry = await newRegistry(t)
  await assert.rejects(takeOver(registry, vendor), refusedWith('import_unpacked_only'))
  const crates = { crates: cache, sourceUrl: ['https://github.com/rust-lang/crates.io-index'] }
  const { sums, outcomes } = await takeOver(registry, vendor, crates)
  assert.deepEqual(sums, { added: 2, present: 0, refused: 2 })
  assert.match(report(outcomes), /refused: it comes from a git repository/)
  assert.match(report(outcomes), /refused: the \.crate of `other` 1\.0\.0 has the checksum/)
  await build(registry)
  const { deps, pubtime } = JSON.parse(publicText(registry, 'index/3/o/one'))
  assert.deepEqual([deps[0].name, deps[0].registry, pubtime], ['log', null, undefined])
})

test('loose .crate files speak for themselves, versions in order', async t => {
  const folder = folderOf(t)
  for (const version of ['1.10.0', '1.9.0', '1.9.0-beta']) {
    writeCrate(join(folder, `demo-${version}.crate`), { name: 'demo', version })
  }
  writeCrate(join(folder, 'whatever.crate'), { name: 'odd-name', version: '3.0.0' })
  writeFileSync(join(folder, 'evil-1.0.0.crate'), buildEvil('parent path'))
  writeFileSync(join(folder, 'html.crate'), '<html>')
  const registry = await newRegistry(t)
  const { sums, source, outcomes } = await takeOver(registry, folder)
  assert.equal(source.kind, 'crates')
  assert.deepEqual(sums, { added: 4, present: 0, refused: 2 }, report(outcomes))
  await build(registry)
  const lines = indexEntries(registry, 'index/de/mo/demo')
  const shown = lines.map(({ vers, pubtime }) => `${vers} ${pubtime}`)
  assert.deepEqual(shown, ['1.9.0-beta undefined', '1.9.0 undefined', '1.10.0 undefined'])
  const again = await takeOver(registry, folder)
  assert.deepEqual(again.sums, { added: 0, present: 4, refused: 2 })
  assert.equal((await takeOver(await newRegistry(t), join(folder, 'whatever.crate'))).sums.added, 1)
})

test('a .crate that only a new publish may not be is refused by add, which names the way, and imported', async t => {
  const folder = folderOf(t)
  const path = join(folder, 'evil-1.0.0.crate')
  for (const trick of ['same path twice', 'symlink', 'data after gzip', 'two manifests'] as const) {
    writeFileSync(path, buildEvil(trick))
    const registry = await newRegistry(t)
    const added = await addCrateFile(registry, path, { at: '2026-11-20T12:00:00Z' }).then(
      () => '',
      ({ issues }: Refusal) => issues.map(({ message }) => message).join(' '),
    )
    assert.match(added, /`plimsoll import FILE --as crates` takes it over/, trick)
    const { sums, outcomes } = await takeOver(registry, path)
    assert.deepEqual(sums, { added: 1, present: 0, refused: 0 }, report(outcomes))
    await build(registry)
    assert.deepEqual(await findingsOf(verifyCrates(registry, { repair: false, served: false })), [])
  }
})

test('links of a tree lead nowhere', async t => {
  const folder = folderOf(t)
  const old = new MargoTree(join(folder, 'old'), 'https://old.example/')
  old.add({ name: 'demo', version: '1.0.0' })
  mkdirSync(join(old.root, '3/a'), { recursive: true })
  symlinkSync('/etc/passwd', join(old.root, '3/a/abc'))
  symlinkSync('/etc', join(old.root, 'et'))
  old.write('config.json', JSON.stringify({ dl: 'https://x/../../../../etc/{crate}' }))
  const { sums } = await takeOver(await newRegistry(t), old.root)
  assert.deepEqual(sums, { added: 1, present: 0, refused: 0 })
})

const SPARSE = 'sparse+https://old.example/'
const unclear: [
  what: string,
  code: Code,
  make: (t: TestContext) => string | Promise<string>,
  wishes?: { as?: SourceKind; names?: string },
][] = [
  ['a folder that does not exist', 'file_missing', t => join(folderOf(t), 'none')],
  ['an empty folder', 'import_source_unknown', t => folderOf(t)],
  ['a file that is no .crate', 'import_source_unknown', t => writeIn(folderOf(t), 'a.txt')],
  ['a sparse URL without names', 'import_names_needed', () => SPARSE],
  ['names that do not exist', 'file_missing', () => SPARSE, { names: 'names-of-old.example' }],
  ['the wrong word for a kind', 'import_source_unknown', margoFolder, { as: 'vendor' }],
  ['the folder around a tree', 'import_source_ambiguous', t => join(margoFolder(t), '..')],
  ['an option of git as address', 'import_git_url', () => 'x@-oProxyCommand:y'],
  ['a registry folder of ours', 'import_own_folder', async t => (await newRegistry(t)).dir],
  [
    'two indexes in one folder',
    'import_source_ambiguous',
    t => {
      const root = margoFolder(t)
      const copy = join(folderOf(t), 'copy')
      cpSync(root, copy, { recursive: true })
      renameSync(copy, join(root, 'index'))
      return root
    },
  ],
  [
    'an index without files and dl',
    'import_no_dl',
    t => {
      const root = margoFolder(t)
      rmSync(join(root, 'crates'), { recursive: true })
      rmSync(join(root, 'config.json'))
      return root
    },
  ],
]

function writeIn(folder: string, name: string): string {
  writeFileSync(join(folder, name), 'x')
  return join(folder, name)
}

function margoFolder(t: TestContext): string {
  const old = margo(t)
  old.add({ name: 'demo', version: '1.0.0' })
  return old.root
}

for (const [what, code, make, wishes] of unclear) {
  test(`${what} is refused with ${code}`, async t => {
    const source = await make(t)
    const registry = await newRegistry(t)
    await assert.rejects(takeOver(registry, source, wishes), error => {
      refusedWith(code)(error)
      const isNamed = String(error).includes(basename(source))
      assert.ok(isNamed || code === 'import_source_ambiguous', String(error))
      return true
    })
  })
}

test('crates that have no owner get the one that is named', async t => {
  const registry = await newRegistry(t)
  await addAndShow(registry, { name: 'mine', version: '1.0.0' })
  for (const login of ['ann', 'bob'])
    await addUser(registry.database, { login, admin: false }, OPERATOR)
  const owner = { crate_id: 1, user_id: 1, added_at: 'x', added_by: null }
  await insertRows(registry.database, 'owners', owner)
  const old = margo(t)
  old.add({ name: 'mine', version: '1.1.0' })
  old.add({ name: 'theirs', version: '1.0.0' })
  await takeOver(registry, old.root, { owner: 2 })
  const owners = await column(registry.database, "SELECT crate_id || ' ' || user_id FROM owners")
  assert.deepEqual(owners, ['1 1', '2 2'])
  const events = await all(registry.database, 'SELECT action, crate, detail FROM audit')
  assert.deepEqual(events.slice(3), [
    { action: 'import', crate: null, detail: JSON.stringify({ source: old.root, versions: 2 }) },
  ])
  // What follows a change goes by its number.
  const sql = 'SELECT DISTINCT generation FROM crates WHERE id IN (1, 2)'
  assert.deepEqual(await column(registry.database, sql), [await lastChange(registry.database)])
})

test('a release of crates.io remembers where it is from; others do not', async t => {
  const { index, crates } = gitIndex(t, 'https://old.example/api/v1/crates')
  for (const url of ['https://github.com/rust-lang/crates.io-index', 'https://git.example/x']) {
    const registry = await newRegistry(t)
    await takeOver(registry, index, { crates, sourceUrl: [url] })
    const crate = await findCrate(registry.database, 'base' as Name)
    const releases = await listReleases(registry.database, crate?.id ?? 0)
    const origin = url.includes('github') ? url : undefined
    for (const release of releases) assert.equal(release.about.origin, origin)
    assert.equal(releases.length, 2)
  }
})
