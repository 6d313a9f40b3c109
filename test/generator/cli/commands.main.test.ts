// Mirrors generator/cli/
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import type { Run } from '../../support/command.ts'
import { buildEvil } from '../../support/crate-builder.ts'
import { filesBelow, treeDigest } from '../../support/folder.ts'
import { serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { folderOf } from '../../support/workplace.ts'

const BASE = 'https://crates.example'
const OWN = `registry-index = "sparse+${BASE}/index/"`
const ENV = { PLIMSOLL_GIT_INDEX: 'off' }
const DEMO = { name: 'demo', version: '1.0.0' }

/** Asserts the code and the whole of stdout; stderr too, where it is given. */
function expect(run: Run, code: number, stdout: string, stderr?: string): void {
  assert.deepEqual({ code: run.code, stdout: run.stdout }, { code, stdout }, run.stderr)
  if (stderr !== undefined) assert.equal(run.stderr, stderr)
}

test('init makes a registry that is complete, and refuses to make it again', async t => {
  const { dir, run } = await registryFolder(t)
  assert.equal(
    readFileSync(join(dir, 'public', 'index', 'config.json'), 'utf8'),
    `{"dl":"${BASE}/crates/{crate}/{crate}-{version}.crate","api":"${BASE}"}\n`,
  )
  assert.ok(existsSync(join(dir, 'plimsoll.db')))
  const settings = readFileSync(join(dir, 'plimsoll.toml'), 'utf8')
  const words = `error: ${dir} already contains a registry; nothing was changed\n`
  expect(await run('init'), 2, '', words)
  assert.equal(readFileSync(join(dir, 'plimsoll.toml'), 'utf8'), settings)
})

test('what add renders goes by the settings of now, config.json too', async t => {
  const { dir, run, put } = await registryFolder(t)
  const settings = join(dir, 'plimsoll.toml')
  const elsewhere = 'https://elsewhere.example'
  writeFileSync(settings, readFileSync(settings, 'utf8').replace(BASE, elsewhere))
  expect(await run('add', put('demo.crate', DEMO)), 0, 'added demo 1.0.0\n', '')
  assert.equal(
    readFileSync(join(dir, 'public', 'index', 'config.json'), 'utf8'),
    `{"dl":"${elsewhere}/crates/{crate}/{crate}-{version}.crate","api":"${elsewhere}"}\n`,
  )
  expect(await run('verify'), 0, 'everything agrees\n')
})

test('every command but init says how to make a registry where there is none', async t => {
  const folder = folderOf(t)
  const words =
    'error: nowhere is not a registry; create one with `plimsoll init --dir nowhere`, or name another folder with --dir\n'
  for (const command of [
    'serve',
    'status',
    'verify',
    'build',
    'settings',
    'yank a@1.0.0',
    'add .',
  ]) {
    const args = [...command.split(' '), '--dir', 'nowhere']
    expect(await plimsollHere(args, ENV, { cwd: folder }), 2, '', words)
  }
  assert.equal(existsSync(join(folder, 'nowhere')), false)
})

test('misuse is code 2, and help is not misuse', async t => {
  const { run, folder } = await registryFolder(t)
  for (const args of ['nonsense', 'build --nonsense', 'yank', 'add', 'build --from .']) {
    const ended = await run(...args.split(' '))
    assert.deepEqual([ended.code, ended.stdout], [2, ''], args)
    assert.match(ended.stderr, /^error: /)
  }
  const unnamed = 'error: `demo` does not name a release; write NAME@VERSION\n'
  expect(await run('yank', 'demo'), 2, '', unnamed)
  const none = join(folder, 'none')
  expect(await run('add', none), 2, '', `error: there is no file or folder ${none}\n`)
  expect(await run('add', '.'), 2, '', 'error: there is no .crate file in or below .\n')
  assert.equal((await run('--help')).code, 0)
})

test('add takes a folder whose crates need each other, whatever their order', async t => {
  const { run, ok, put, folder, dir } = await registryFolder(t)
  const needs = (name: string) => `[dependencies.${name}]\nversion = "1"\n${OWN}\n`
  put('in/a.crate', { name: 'app', version: '1.0.0', manifest: needs('lib') })
  put('in/b.crate', { name: 'lib', version: '1.10.0', manifest: needs('util') })
  put('in/c.crate', { name: 'lib', version: '1.9.0', manifest: needs('util') })
  const circle = `[dev-${needs('app').slice(1)}`
  put('in/d/e.crate', { name: 'util', version: '1.0.0', manifest: circle })
  const added =
    'added util 1.0.0\nadded lib 1.9.0\nadded lib 1.10.0\nadded app 1.0.0\n4 added, 0 refused\n'
  expect(await run('add', join(folder, 'in')), 0, added, '')
  expect(await run('verify'), 0, 'everything agrees\n', '')
  const lines = readFileSync(join(dir, 'public', 'index', '3', 'l', 'lib'), 'utf8')
  assert.match(lines, /^\S+"vers":"1\.9\.0"\S+\n\S+"vers":"1\.10\.0"\S+\n$/)
  const again = JSON.parse(await ok('add', '--json', join(folder, 'in')))
  assert.deepEqual(
    again.map((release: { name: string; outcome: string }) => `${release.outcome} ${release.name}`),
    ['present util', 'present lib', 'present lib', 'present app'],
  )
})

test('add names each file it refuses, takes the others, and exits 1', async t => {
  const { run, put } = await registryFolder(t)
  const good = put('good.crate', { ...DEMO, name: 'good' })
  const bad = put('bad.crate', buildEvil('not gzip'))
  const manifest = `[dependencies.bad]\nversion = "1"\n${OWN}\n`
  const lonely = put('lonely.crate', { name: 'lonely', version: '1.0.0', manifest })
  const ended = await run('add', bad, lonely, good)
  expect(ended, 1, 'added good 1.0.0\n1 added, 2 refused\n')
  const errors = ended.stderr.split('\n').filter(line => line.startsWith('error: '))
  assert.equal(errors.length, 2)
  assert.ok(errors[0]?.startsWith(`error: ${lonely}: `), errors[0])
  assert.ok(errors[1]?.startsWith(`error: ${bad}: `), errors[1])
  const json = await run('add', '--json', bad)
  assert.equal(json.code, 1)
  const [refused] = JSON.parse(json.stdout) as Record<string, unknown>[]
  const { errors: reasons, ...rest } = refused ?? {}
  const nothing = { name: null, version: null, warnings: [] }
  assert.deepEqual(rest, { path: bad, ...nothing, outcome: 'refused' })
  assert.ok(Array.isArray(reasons) && reasons.length > 0, json.stdout)
})

test('add prints one warning of each kind with their number, or all of them', async t => {
  const { folder, run, put } = await registryFolder(t)
  for (const name of ['one', 'two', 'three'])
    put(`some/${name}.crate`, { name, version: '1.0.0', manifest: 'readme = "GONE.md"\n' })
  const few = await run('add', join(folder, 'some'))
  const second = await registryFolder(t)
  const all = await second.run('add', '--verbose', join(folder, 'some'))
  assert.equal(all.stderr.match(/^warning: .*README/gim)?.length ?? 0, 3, all.stderr)
  assert.equal(few.stderr.match(/^warning: .*README/gim)?.length, 1, few.stderr)
  assert.match(few.stderr, /^warning: .*one\.crate: .* \(and 2 more warnings of this kind\)$/m)
  assert.match(few.stderr, /^`--verbose` lists every one of them$/m)
})

test('settings tells where each is from, and every command overrides them by flags', async t => {
  const { folder, dir, run, ok } = await registryFolder(t)
  const told = JSON.parse(await ok('settings', '--json'))
  const base = told.find(({ key }: { key: string }) => key === 'registry.base_url')
  assert.deepEqual([base.value, /plimsoll\.toml$/.test(base.origin)], [BASE, true])
  assert.match(
    await ok('settings'),
    /^registry\.base_url = "https:\/\/crates\.example" {2}# .*plimsoll\.toml$/m,
  )
  const url = 'https://other.example'
  assert.match(
    await ok('settings', '--base-url', url, '--listen', '[::1]:0', '--set', 'auth.required=true'),
    /base_url = "https:\/\/other\.example" {2}# --base-url\n(?:.*\n)*server\.listen = "\[::1\]:0" {2}# --listen\n(?:.*\n)*auth\.required = true {2}# --set auth\.required\n/,
  )
  expect(await run('build', '--base-url', url, '--api', 'none'), 0, 'rendered 0 crates\n')
  const config = () => readFileSync(join(dir, 'public', 'index', 'config.json'), 'utf8')
  assert.equal(config(), `{"dl":"${url}/crates/{crate}/{crate}-{version}.crate"}\n`)
  expect(await run('build', '--set', 'auth.required=true'), 0, 'rendered 0 crates\n')
  assert.match(config(), /"auth-required":true/)
  const wrong = await run('status', '--set', 'auth.requird=true')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /there is no setting `auth\.requird`; did you mean `auth\.required`/)
  assert.equal((await run('status', '--set', 'auth.required')).code, 2)
  const fresh = join(folder, 'fresh')
  const made = ['init', '--dir', fresh, '--set', 'auth.required=true', '--api', 'none']
  assert.equal((await plimsollHere(made, ENV)).code, 0)
  const text = readFileSync(join(fresh, 'plimsoll.toml'), 'utf8')
  assert.match(text, /^required = true$/m)
  assert.match(text, /^api = "none"$/m)
})

test('yank and its undo change the index, and say when there was nothing to do', async t => {
  const { run, ok, put, dir } = await registryFolder(t)
  await ok('add', put('a.crate', DEMO))
  const isYanked = () =>
    readFileSync(join(dir, 'public/index/de/mo/demo'), 'utf8').includes('"yanked":true')
  expect(await run('yank', 'demo@1.0.0'), 0, 'yanked demo 1.0.0\n', '')
  assert.equal(isYanked(), true)
  expect(await run('yank', 'Demo@1.0.0'), 0, 'demo 1.0.0 was yanked before\n', '')
  expect(await run('yank', 'demo@1.0.0', '--undo'), 0, 'unyanked demo 1.0.0\n', '')
  assert.equal(isYanked(), false)
  const unknown = 'error: there is no version 2.0.0 of `demo` here\n'
  expect(await run('yank', 'demo@2.0.0'), 1, '', unknown)
  expect(await run('yank', 'none@1.0.0'), 1, '', 'error: there is no crate `none` here\n')
})

test('delete asks for --yes, and leaves no page that tells of what is gone', async t => {
  const { dir, run, ok, put } = await registryFolder(t)
  const shown = (path: string) => readFileSync(join(dir, 'public', path), 'utf8')
  const crates = ['keel', 'rib'].map(name => put(`${name}.crate`, { ...DEMO, name }))
  await ok('add', ...crates)
  expect(await run('delete', 'keel'), 1, 'would delete keel 1.0.0\n')
  assert.match(shown('crates/index.html'), /keel/)
  const lines = await run('delete', 'keel', '--yes', '--reason', 'a key\nand more')
  assert.equal(lines.code, 2)
  assert.match(lines.stderr, /--reason <text>.* is invalid\. write it on one line\n/s)
  expect(await run('delete', 'keel', '--yes'), 0, 'deleted keel 1.0.0\n')
  expect(await run('delete', 'keel'), 1, '', 'error: there is no crate `keel` here\n')
  for (const path of ['index.html', 'crates/index.html', 'feeds/updates.xml'])
    assert.doesNotMatch(shown(path), /keel/, path)
  assert.match(shown('crates/index.html'), /rib/)
  expect(await run('verify'), 0, 'everything agrees\n', '')
  assert.match(await ok('status'), /^crates {4}1\nversions {2}1\n/)
})

test('lost bytes make build exit 1', async t => {
  const { run, ok, put, dir } = await registryFolder(t)
  await ok('add', put('a.crate', DEMO))
  rmSync(join(dir, 'crates', 'de'), { recursive: true })
  rmSync(join(dir, 'public'), { recursive: true })
  const words =
    'error: the .crate of `demo` 1.0.0 is missing from the crate store or damaged there; put it back with `plimsoll add FILE`, or from a backup of the registry folder and run `plimsoll build --all`\n'
  expect(await run('build'), 1, 'rendered 1 crate\n', words)
})

test('commands work beside a running daemon, and a second daemon is refused', async t => {
  const { run, ok, put, dir } = await registryFolder(t)
  const daemon = await serve(new Cleanup(t), dir, ENV)
  const status = JSON.parse(await ok('status', '--json')) as { daemon: string }
  assert.match(status.daemon, new RegExp(`^process [0-9]+ at ${daemon.url}, version \\S+$`))
  const second = await run('serve', '--listen', '127.0.0.1:0')
  const words = `error: ${dir} is already being served by ${status.daemon}; stop it first, or use another --dir\n`
  expect(second, 1, '', words)
  const index = async () => (await fetch(`${daemon.url}/index/de/mo/demo`)).text()
  expect(await run('add', put('a.crate', DEMO)), 0, 'added demo 1.0.0\n', '')
  assert.match(await index(), /^\{"name":"demo","vers":"1\.0\.0",.*"yanked":false/)
  expect(await run('yank', 'demo@1.0.0'), 0, 'yanked demo 1.0.0\n', '')
  assert.match(await index(), /"yanked":true/)
  // The daemon may still be rendering pages.
  const verified = await run('verify')
  assert.equal(verified.code, 0, verified.stdout)
  assert.match(verified.stdout, /^everything (?:else )?agrees\n$/)
  expect(await run('build', '--all'), 0, 'rendered 1 crate\n', '')
})

test('build --from makes a tree of a folder of .crate files, and exits 1 naming the broken', async t => {
  const { folder, put } = await registryFolder(t)
  put('crates/a.crate', DEMO)
  writeFileSync(join(folder, 'crates', 'plimsoll.toml'), 'yanked = ["demo@1.0.0"]\n')
  const words = ['build', '--from', 'crates', '--out', 'out', '--base-url', BASE]
  const build = () => plimsollHere(words, { XDG_CACHE_HOME: folder }, { cwd: folder })
  const caches = ['build-0123456789abcdef.txt', 'build-fedcba9876543210.txt', 'other.txt']
  mkdirSync(join(folder, 'plimsoll'))
  for (const name of caches) writeFileSync(join(folder, 'plimsoll', name), '')
  const long = new Date(Date.now() - 91 * 86_400_000)
  for (const name of [caches[0], 'other.txt'])
    utimesSync(join(folder, 'plimsoll', `${name}`), long, long)
  const first = await build()
  const own = readdirSync(join(folder, 'plimsoll')).filter(name => /^build-.*\.db$/.test(name))
  assert.deepEqual(
    readdirSync(join(folder, 'plimsoll'))
      .filter(name => !/\.lock(?:\.holder)?$/.test(name))
      .sort(),
    [...own, ...caches.slice(1)].sort(),
  )
  assert.equal(own.length, 1)
  const count = filesBelow(join(folder, 'out')).length
  expect(first, 0, `1 version of 1 crate; ${count} files changed in out\n`, '')
  expect(await build(), 0, '1 version of 1 crate; 0 files changed in out\n', '')
  assert.match(readFileSync(join(folder, 'out/index/de/mo/demo'), 'utf8'), /"yanked":true/)
  assert.doesNotMatch(readFileSync(join(folder, 'out/index/config.json'), 'utf8'), /"api"/)
  const before = treeDigest(join(folder, 'out'))
  put('crates/bad.crate', buildEvil('not gzip'))
  const broken = await build()
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /^error: .*crates[/\\]bad\.crate: /)
  assert.equal(treeDigest(join(folder, 'out')), before)
  const strange = await plimsollHere(['build', '--from', 'out', '--out', '.'], {}, { cwd: folder })
  assert.equal(strange.code, 2)
})

test('build --from a folder without .crate files makes an empty registry and says so; a missing folder is misuse', async t => {
  const { folder, put } = await registryFolder(t)
  mkdirSync(join(folder, 'empty'))
  const build = (from: string) =>
    plimsollHere(['build', '--from', from, '--out', 'out', '--base-url', BASE, '--no-cache'], ENV, {
      cwd: folder,
    })
  const sentence = (from: string) =>
    `warning: there is no .crate file in or below ${from}, so out has no crates\n`
  const first = await build('empty')
  const count = filesBelow(join(folder, 'out')).length
  const own = 'settings: registry/plimsoll.toml, the environment and the command line\n'
  const said = `${own}${sentence('empty')}`
  expect(first, 0, `0 versions of 0 crates; ${count} files changed in out\n`, said)
  assert.match(readFileSync(join(folder, 'out/index.html'), 'utf8'), /<html/)
  const empty = treeDigest(join(folder, 'out'))
  put('crates/a.crate', DEMO)
  assert.equal((await build('crates')).code, 0)
  rmSync(join(folder, 'crates', 'a.crate'))
  assert.equal((await build('crates')).stderr, `${own}${sentence('crates')}`)
  assert.equal(treeDigest(join(folder, 'out')), empty)
  expect(await build('no-such'), 2, '', `${own}error: there is no file or folder no-such\n`)
  assert.equal(treeDigest(join(folder, 'out')), empty)
})
