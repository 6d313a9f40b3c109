// Mirrors generator/cli/: what is printed as JSON, and what of long lists is named
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { COMMIT } from '../../../generator/version.ts'
import type { Run } from '../../support/command.ts'
import { buildEvil } from '../../support/crate-builder.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { folderOf } from '../../support/workplace.ts'

const BASE = 'https://crates.example'
const ENV = { PLIMSOLL_GIT_INDEX: 'off', PLIMSOLL_REGISTRY_BASE_URL: BASE }
const NEEDS_KEEL = `[dependencies.keel]\nversion = "1"\nregistry-index = "sparse+${BASE}/index/"\n`

/** A registry, and a folder `crates` in which four crates with two versions each need `keel`. */
async function scene(t: TestContext) {
  const registry = await registryFolder(t)
  const put = (name: string, version: string, manifest = '') =>
    registry.put(`crates/${name}-${version}.crate`, { name, version, manifest })
  put('keel', '1.0.0')
  for (const name of ['aft', 'bow', 'cabin', 'deck'])
    for (const version of ['1.0.0', '1.1.0']) put(name, version, NEEDS_KEEL)
  return registry
}

/** The one JSON text on stdout of a command that must end with `code`. */
async function json<Result = unknown>(run: Promise<Run>, code = 0): Promise<Result> {
  const ended = await run
  assert.equal(ended.code, code, ended.stderr)
  return JSON.parse(ended.stdout) as Result
}

test('every command that reports has one JSON text on stdout', async t => {
  const { folder, run } = await scene(t)
  writeFileSync(join(folder, 'crates', 'bad.crate'), buildEvil('not gzip'))
  const added = (await json(run('add', 'crates', '--json'), 1)) as Record<string, unknown>[]
  assert.equal(added.length, 10)
  const keys = ['path', 'name', 'version', 'warnings']
  for (const { outcome, ...rest } of added)
    assert.deepEqual(Object.keys(rest), outcome === 'refused' ? [...keys, 'errors'] : keys)
  assert.deepEqual(await json(run('build', '--all', '--json')), { crates: 5 })
  const static_ = ['--from', 'crates', '--out', 'out', '--skip-bad', '--no-cache', '--json']
  const tree = (await json(run('build', ...static_), 1)) as Record<string, unknown>
  assert.deepEqual([tree.crates, tree.versions], [5, 9])
  assert.deepEqual([(tree.warnings as string[]).length, (tree.refused as string[]).length], [0, 1])
  const yanked = { name: 'aft', version: '1.0.0', yanked: true, changed: true }
  assert.deepEqual(await json(run('yank', 'aft@1.0.0', '--json')), yanked)
  const saved = { file: 'b.tar', crate_files: 9, lost: [] }
  assert.deepEqual(await json(run('backup', 'b.tar', '--json')), saved)
  assert.equal(((await json(run('audit', '--json'))) as object[]).length, 10)
  assert.deepEqual(await json(run('verify', '--json')), [])
})

test('init says where the registry is, as JSON, too', async t => {
  const folder = folderOf(t)
  const made = await json(plimsollHere(['init', '--json', '--api', 'none'], ENV, { cwd: folder }))
  const index = `sparse+${BASE}/index/`
  assert.deepEqual(made, { dir: './registry', base_url: BASE, index, api: null })
  const { stdout } = await plimsollHere(['init', '--dir', 'other'], ENV, { cwd: folder })
  assert.equal(stdout, 'created a registry in other; start it with `plimsoll serve --dir other`\n')
})

test('every change of a user or a token prints as JSON what it became', async t => {
  const { run } = await registryFolder(t)
  const user = (verb: string, login = 'alice') => json<object>(run('user', verb, login, '--json'))
  const root = await user('add', 'root')
  const alice = await user('add')
  const more = { identities: [], login_due: false, made: [] }
  const listed = [root, alice].map(user => ({ ...user, ...more }))
  assert.deepEqual(await json(run('user', 'list', '--json')), listed)
  assert.deepEqual(await user('promote'), { ...alice, admin: true })
  assert.deepEqual(await user('demote'), alice)
  assert.deepEqual(await user('lock'), { ...alice, locked: true })
  assert.deepEqual(await user('unlock'), alice)
  assert.deepEqual(await user('logout'), { ended_sessions: 0, ...alice })
  const { link, ...linked } = (await user('link')) as { link: string }
  assert.deepEqual(linked, alice)
  assert.match(link, new RegExp(`^${BASE}/me/password\\?link=\\S+$`))

  const wish = ['--user', 'alice', '--name', 'ci', '--scope', 'yank', '--crate', 'aft-*']
  const { token, ...made } = await json<{ token: string; id: number }>(
    run('token', 'create', ...wish, '--json'),
  )
  assert.match(token, /^plim_\w+$/)
  const ci = { id: 1, name: 'ci', user: 'alice' }
  const limits = { scopes: ['yank'], crates: ['aft-*'], expires: null, last_used: null }
  assert.deepEqual({ ...made, created: '' }, { ...ci, ...limits, created: '' })
  assert.deepEqual(await json(run('token', 'list', '--json')), [made])
  assert.deepEqual(await json(run('token', 'revoke', '1', '--json')), ci)
  assert.deepEqual(await json(run('token', 'list', '--json')), [])
})

test('status knows disk space, and versions of programs, for people and programs', async t => {
  const { run, ok } = await scene(t)
  await ok('add', 'crates')
  const status = await json<Record<string, unknown>>(run('status', '--json'))
  const { crates, releases, users, daemon, base_url } = status
  const common = { crates: 5, releases: 9, users: 0, daemon: null, base_url: BASE }
  assert.deepEqual({ crates, releases, users, daemon, base_url }, common)
  const [disk] = status.disks as { what: string; free: number; size: number }[]
  assert.ok(disk && disk.what === 'Disk' && disk.free <= disk.size, JSON.stringify(disk))
  assert.ok((status.database_bytes as number) > 0)
  assert.equal((status.programs as { node: string }).node, process.versions.node)
  assert.equal(status.commit, COMMIT)
  assert.deepEqual([status.pending, status.pending_work], [0, []])
  const lines = await ok('status')
  assert.match(lines, /^crates {4}5\nversions {2}9\nusers {5}0\n/)
  assert.match(lines, /^disk {6}[\d.]+ [KMGT]iB of [\d.]+ [KMGT]iB free$/m)
  assert.match(lines, /^database {2}[\d.]+ [KM]iB$/m)
  assert.match(lines, /^programs {2}Plimsoll \S+, Node\.js \S+, SQLite 3\S+$/m)
  assert.ok(lines.includes(`\ncommit    ${COMMIT}\n`), lines)
})

test('delete counts the dependents and names a few', async t => {
  const { run, ok } = await scene(t)
  await ok('add', 'crates')
  const plan = await run('delete', 'keel')
  assert.equal(plan.code, 1)
  assert.equal(
    plan.stdout,
    'would delete keel 1.0.0\nother crates depend on it (8 versions of 4 crates): aft, bow, cabin and 1 more\n',
  )
  const all = (await json(run('delete', 'keel', '--json'), 1)) as Record<string, unknown>
  assert.deepEqual([all.name, all.versions, all.deleted], ['keel', ['1.0.0'], false])
  assert.equal((all.dependents as string[]).length, 8)
  const refused = await run('delete', 'keel', '--yes', '--json')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /\(8 of their versions, such as aft 1\.0\.0, aft 1\.1\.0, bow 1/)
  const gone = (await json(run('delete', 'keel', '--yes', '--force', '--json'))) as object
  assert.deepEqual(gone, { ...all, deleted: true })
})
