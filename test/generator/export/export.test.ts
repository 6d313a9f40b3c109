import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { renderEntry } from '../../../core/entry/entry.ts'
import type { Refusal } from '../../../core/error/error.ts'
import { CRATES_IO } from '../../../core/index-url.ts'
import type { LockedPackage } from '../../../core/lock/lock-file.ts'
import type { Name } from '../../../core/name.ts'
import { sha256 } from '../../../core/sha256.ts'
import type { Version } from '../../../core/version.ts'
import {
  type CratesForExport,
  exportConfig,
  exportCrates,
  LAYOUTS,
  readLockFiles,
  recordedCrates,
} from '../../../generator/export/export.ts'
import { Cargo, cargoIsAtLeast } from '../../support/cargo.ts'
import {
  buildCrate,
  buildEvil,
  type CrateParts,
  manifestOf,
  type RawMember,
  tar,
} from '../../support/crate-builder.ts'
import { writeProject } from '../../support/project.ts'
import { entry } from '../../support/release.ts'
import { addCrate, folderOf, newRegistry } from '../../support/workplace.ts'

const OWN = 'sparse+https://crates.example/index/'
const LIMITS = {
  unpackedBytes: 1 << 20,
  entries: 100,
  manifestBytes: 1 << 16,
  readmeBytes: 1 << 16,
}

/** A version as something else than a registry may have it, with another checksum in its line. */
function crateOf(parts: Pick<CrateParts, 'name' | 'version'>, bytes: Uint8Array, cksum?: string) {
  const { name, version: vers } = parts
  return {
    line: renderEntry(entry({ name, vers, cksum: cksum ?? sha256(bytes) })),
    bytes: Buffer.from(bytes),
  }
}

/** Crates by name and version. */
function crates(byName: Readonly<Record<string, ReturnType<typeof crateOf>>>): CratesForExport {
  return { find: async ({ name, version }) => byName[`${name} ${version}`] ?? null }
}

function locked(name: string, source = CRATES_IO, checksum: string | null = null): LockedPackage {
  return { name: name as Name, version: '1.0.0' as Version, source, checksum }
}

/** A package as a `Cargo.lock` has it. */
function lockedText(
  name: string,
  version: string,
  source: string,
  checksum: string,
  needs: readonly string[] = [],
): string {
  const fields = Object.entries({ name, version, source, checksum })
  const lines = fields.map(([key, value]) => `${key} = "${value}"\n`).join('')
  const list = needs.map(need => ` "${need}",\n`).join('')
  return `[[package]]\n${lines}${list && `dependencies = [\n${list}]\n`}`
}

const ROPE = { name: 'rope', version: '1.0.0' }
const ROPE_BYTES = buildCrate({
  ...ROPE,
  files: { 'src/lib.rs': 'pub fn rope() -> u8 { 3 }\n', '.cargo-checksum.json': '{}' },
})

const SKIP = cargoIsAtLeast(68) ? false : 'this cargo reads no sparse index'

for (const layout of LAYOUTS)
  test(`Cargo builds own crates and others from a ${layout} folder alone`, {
    skip: SKIP,
  }, async t => {
    const registry = await newRegistry(t)
    const folder = folderOf(t)
    const lib = (code: string) => ({ 'src/lib.rs': `pub fn value() -> u8 { ${code} }\n` })
    await addCrate(registry, { name: 'plank', version: '0.2.0', files: lib('1') })
    const own = `[dependencies.plank]\nversion = "0.2"\nregistry-index = "${OWN}"\n`
    const manifest = `${own}[dependencies.rope]\nversion = "1"\n`
    const files = lib('plank::value() + rope::rope()')
    await addCrate(registry, { name: 'Keel', version: '1.0.0+b.1', manifest, files })
    const bySpec = { 'rope 1.0.0': crateOf(ROPE, ROPE_BYTES) }
    const recorded = recordedCrates(registry)
    const sum = async (name: string, version: string) => {
      const asked = { name: name as Name, version: version as Version, cksum: null }
      return sha256((await recorded.find(asked))?.bytes ?? '')
    }
    const app = writeProject(join(folder, 'app'), {
      name: 'app',
      toml: '[dependencies]\nKeel = { version = "1", registry = "team" }\n',
      files: { 'src/lib.rs': 'pub fn app() -> u8 { Keel::value() }\n' },
    })
    const lockFile = join(app.folder, 'Cargo.lock')
    const lock = [
      lockedText('Keel', '1.0.0+b.1', OWN, await sum('Keel', '1.0.0+b.1'), ['plank', 'rope']),
      '[[package]]\nname = "app"\nversion = "1.0.0"\ndependencies = [\n "Keel",\n]\n',
      lockedText('plank', '0.2.0', OWN, await sum('plank', '0.2.0')),
      lockedText('rope', '1.0.0', `registry+${CRATES_IO}`, sha256(ROPE_BYTES)),
    ]
    writeFileSync(lockFile, ['version = 3\n', ...lock].join('\n'))
    const before = readFileSync(lockFile, 'utf8')
    const dir = join(folder, 'offline')
    mkdirSync(dir)
    const order = {
      ...(await readLockFiles([lockFile, lockFile])),
      layout,
      dir,
      limits: () => LIMITS,
      cratesOf: (source: string) => (source === OWN ? recorded : crates(bySpec)),
    }
    await exportCrates(order)
    mkdirSync(join(app.folder, '.cargo'))
    writeFileSync(
      join(app.folder, '.cargo', 'config.toml'),
      `[registries.team]\nindex = "${OWN}"\n\n${exportConfig(order)}`,
    )
    const cargo = new Cargo(join(folder, 'home'), {
      registries: {},
      cratesIo: 'sparse+http://127.0.0.1:9/',
    })
    rmSync(join(cargo.home, 'config.toml'))
    await cargo.ok(app.folder, 'build', '--offline', '--locked')
    assert.equal(readFileSync(lockFile, 'utf8'), before)
    const names = ['Keel-1.0.0+b.1', 'plank-0.2.0', 'rope-1.0.0']
    const expected =
      layout === 'vendor' ? names : [...names.map(name => `${name}.crate`), 'index'].sort()
    assert.deepEqual(readdirSync(dir).sort(), expected)
  })

/** A file of a package, with the bits of its permissions. */
const file = (path: string, data: string, mode = '644', type = '0'): RawMember => ({
  ...{ path: `rope-1.0.0/${path}`, data, type },
  patch: [{ at: 100, bytes: `0000${mode}\0` }],
})

test('a vendored folder is what `cargo vendor` writes: what it leaves out, the last of two, modes', {
  skip: SKIP,
}, async t => {
  const members = [
    file('Cargo.toml', manifestOf(ROPE)),
    file('src/lib.rs', 'first', '600'),
    ...['.gitignore', 'src/.gitattributes', 'a/.git/x', '.cargo-ok', 'é', '~', '2', '10'].map(
      name => file(name, name),
    ),
    file('.git', '', '755'),
    file('run.sh', '#!/bin/sh\r\n', '775'),
    file('closed/', '', '700', '5'),
    file('closed/./in.txt', '', '444'),
    file('src/lib.rs', 'last', '640'),
    ...['.github/x', 'x.gitignore', '"quoted\\', 'a/gitignore'].map(name => file(name, name)),
  ]
  const bytes = gzipSync(tar(members))
  const folder = folderOf(t)
  const packages = [locked('rope', CRATES_IO, sha256(bytes))]
  const here = crates({ 'rope 1.0.0': crateOf(ROPE, bytes) })
  const order = { packages, cratesOf: () => here, limits: () => LIMITS }
  for (const layout of LAYOUTS) await exportCrates({ ...order, layout, dir: join(folder, layout) })
  const app = writeProject(join(folder, 'app'), { name: 'app', toml: '[dependencies]\nrope = "1"' })
  const local = { ...order, layout: LAYOUTS[0], dir: join(folder, LAYOUTS[0]) }
  const config = exportConfig(local)
  const cargo = new Cargo(join(folder, 'home'), { registries: {}, cratesIo: null, config })
  const args = ['--versioned-dirs', '--respect-source-config', '--offline', 'theirs']
  await cargo.ok(app.folder, 'vendor', ...args)
  const [ours, theirs] = [join(folder, 'vendor'), join(app.folder, 'theirs')].map(root =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map(path => {
        const { mode } = statSync(join(root, path))
        const isFile = statSync(join(root, path)).isFile()
        return [path, mode.toString(8), isFile && readFileSync(join(root, path), 'utf8')]
      }),
  )
  assert.deepEqual(ours, theirs)
})

/** Runs an export that is refused; returns its message, and asserts that it left nothing. */
async function refused(
  folder: string,
  packages: readonly LockedPackage[],
  cratesOf: (source: string) => CratesForExport | null,
  layout: (typeof LAYOUTS)[number] = 'vendor',
): Promise<string> {
  const before = readdirSync(folder, { recursive: true })
  const dir = join(folder, 'offline')
  const order = { packages, layout, dir, cratesOf, limits: () => LIMITS }
  const { message } = await exportCrates(order).then(
    () => assert.fail('it was written'),
    (error: Refusal) => error,
  )
  assert.deepEqual(readdirSync(folder, { recursive: true }), before)
  return message.replaceAll(folder, '')
}

test('everything that is missing is named at once, and nothing is written', async t => {
  const here = crates({ 'rope 1.0.0': crateOf(ROPE, ROPE_BYTES) })
  const packages = [locked('rope'), locked('plank'), locked('keel', OWN)]
  const cratesOf = (source: string) => (source === OWN ? null : here)
  assert.equal(
    await refused(folderOf(t), packages, cratesOf),
    `nothing was written, because these crates are not here, or not with the checksum in the lock file; \`plimsoll upstream fetch --lock\` with the same lock files gets those of an upstream:
  plank 1.0.0 of ${CRATES_IO}
  keel 1.0.0 of ${OWN}`,
  )
})

test('bytes that are not those of the line and of the lock file are refused', async t => {
  const folder = folderOf(t)
  const sum = sha256(ROPE_BYTES)
  const other = 'f'.repeat(64)
  const wrong = `the .crate of \`rope\` 1.0.0 has the checksum ${sum}, but the source says ${other}`
  for (const [checksum, line] of [
    [other, sum],
    [null, other],
    [sum, other],
  ] as const) {
    const here = crates({ 'rope 1.0.0': crateOf(ROPE, ROPE_BYTES, line) })
    const packages = [locked('rope', CRATES_IO, checksum)]
    assert.equal(await refused(folder, packages, () => here), wrong)
  }
})

test('crates of two registries with one name and version are told apart or refused', async t => {
  const folder = folderOf(t)
  const same = crates({ 'rope 1.0.0': crateOf(ROPE, ROPE_BYTES) })
  const other = crates({ 'rope 1.0.0': crateOf(ROPE, buildCrate(ROPE)) })
  const packages = [locked('rope'), locked('rope', OWN)]
  assert.equal(
    await refused(folder, packages, source => (source === OWN ? other : same)),
    'two registries have a rope-1.0.0.crate with different bytes, which one folder cannot keep apart; export their lock files one by one',
  )
  const order = { packages, layout: LAYOUTS[0], dir: join(folder, 'same'), limits: () => LIMITS }
  await exportCrates({ ...order, cratesOf: () => same })
  const index = join(order.dir, 'index', 'ro', 'pe', 'rope')
  assert.equal(readFileSync(index, 'utf8').trim().split('\n').length, 1)
})

test('a hostile archive writes nothing, and no limit is passed', async t => {
  const folder = folderOf(t)
  const offer = (bytes: Uint8Array) => {
    const here = crates({ 'rope 1.0.0': crateOf(ROPE, bytes) })
    return refused(folder, [locked('rope')], () => here)
  }
  for (const trick of ['parent path', 'absolute path', 'symlink', 'two top folders'] as const)
    assert.match(await offer(buildEvil(trick, ROPE)), /^rope-1\.0\.0\.crate: /, trick)
  const large = buildCrate({ ...ROPE, files: { 'src/lib.rs': '0'.repeat(2 << 20) } })
  assert.match(await offer(large), /^rope-1\.0\.0\.crate: .*more than 1\.0 MiB/)
})

test('a folder with something in it, and a file, stay as they are', async t => {
  const folder = folderOf(t)
  const here = crates({ 'rope 1.0.0': crateOf(ROPE, ROPE_BYTES) })
  const message =
    '/offline is a file or has something in it; nothing was written; choose another folder'
  writeFileSync(join(folder, 'offline'), '')
  assert.equal(await refused(folder, [locked('rope')], () => here), message)
  rmSync(join(folder, 'offline'))
  mkdirSync(join(folder, 'offline'))
  writeFileSync(join(folder, 'offline', 'notes'), '')
  assert.equal(await refused(folder, [locked('rope')], () => here), message)
})

test('the registry has a version only as it was published, and says when its bytes are lost', async t => {
  const registry = await newRegistry(t)
  const bytes = buildCrate(ROPE)
  await addCrate(registry, ROPE)
  const { find } = recordedCrates(registry)
  const look = (name: string, version = '1.0.0', cksum: string | null = null) =>
    find({ name: name as Name, version: version as Version, cksum })
  assert.deepEqual((await look('rope', '1.0.0', sha256(bytes)))?.bytes, Buffer.from(bytes))
  const others = [look('Rope'), look('rope', '1.0.0+b'), look('rope', '1.0.0', 'f'.repeat(64))]
  for (const nothing of [...others, look('keel')]) assert.equal(await nothing, null)
  rmSync(join(registry.dir, 'crates'), { recursive: true })
  await assert.rejects(look('rope'), (error: Refusal) => error.has('crate_lost'))
})
