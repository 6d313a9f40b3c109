// Mirrors core/settings/access.ts: what a registry keeps of the access that its daemon had
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { plimsoll } from '../../support/plimsoll.ts'
import { postgresSuite } from '../../support/postgres-suite.ts'
import { plimsollHere } from '../../support/program.ts'
import { SERVE, serveBy } from '../../support/serving-program.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const { server, skip } = postgresSuite()

const PRIVATE = { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_OWNERS_ADD: 'invite' }
const HERE = { PLIMSOLL_GIT_INDEX: 'off' }

/** A registry that was served with the access of its environment alone. */
async function servedPrivately(t: TestContext) {
  const folder = folderOf(t)
  const at = (...names: string[]) => join(folder, ...names)
  const run = async (dir: string, ...args: string[]) => {
    const ended = await plimsollHere([...args, '--dir', at(dir)], HERE)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`)
    return ended
  }
  /** Serves a folder; returns what a stranger gets for the index, and the log. */
  const served = async (dir: string, env: NodeJS.ProcessEnv, set: readonly string[] = []) => {
    const flags = set.flatMap(each => ['--set', each])
    const daemon = await serveBy(new Cleanup(t), [...SERVE, ...flags], at(dir), { ...HERE, ...env })
    const { status } = await fetch(`${daemon.url}/index/de/mo/demo`)
    daemon.kill('SIGTERM')
    assert.equal(await daemon.ended, 0)
    return { status, log: daemon.said.err }
  }
  await run('live', 'init', '--base-url', 'https://crates.example')
  writeCrate(at('demo-0.1.0.crate'), { name: 'demo', version: '0.1.0' })
  await run('live', 'add', at('demo-0.1.0.crate'))
  assert.equal((await served('live', PRIVATE)).status, 401)
  return { at, run, served }
}

test('access that only the environment had stays after restore, copies and commands', async t => {
  const { at, run, served } = await servedPrivately(t)
  await run('live', 'backup', at('backup.tar'))
  const { stderr } = await run('restored', 'restore', at('backup.tar'))
  assert.match(stderr, /nothing sets auth\.required, owners\.add any more, so they stay/)
  const restored = await served('restored', {})
  assert.equal(restored.status, 401)
  assert.match(restored.log, /nothing sets auth\.required, owners\.add any more, so they stay/)
  // In a process of its own: this one may still have what was restored open.
  const { stdout, stderr: said } = await plimsoll(at('restored'), ['settings', '--dir', '.'], HERE)
  assert.equal(said, '')
  assert.match(stdout, /^auth\.required = true {2}# the last start of the daemon$/m)
  // A copy of the folder, whose file says that it is open, as the first one's did not.
  cpSync(at('live'), at('copy'), { recursive: true })
  writeCrate(at('demo-1.0.0.crate'), { name: 'demo', version: '1.0.0' })
  await run('copy', 'add', at('demo-1.0.0.crate'))
  await run('copy', 'build', '--all')
  const config = readFileSync(at('copy', 'public', 'index', 'config.json'), 'utf8')
  assert.equal(JSON.parse(config)['auth-required'], true)
  assert.equal((await served('copy', {})).status, 401)
})

test('it stays for a second daemon of a server, and where a move has put the records', {
  skip,
}, async t => {
  const { at, run, served } = await servedPrivately(t)
  const url = await server.create('access')
  await run('live', 'migrate', '--to', url, '--write')
  assert.equal((await served('live', {})).status, 401)
  // Another machine has the file alone, and the same folders.
  cpSync(at('live', 'plimsoll.toml'), at('second', 'plimsoll.toml'))
  const shared = ['storage.crates', 'storage.public'].map(
    key => `${key}=${at('live', key.replace('storage.', ''))}`,
  )
  assert.equal((await served('second', {}, shared)).status, 401)
  await server.close()
  const { stdout, stderr } = await run('live', 'settings')
  assert.match(stdout, /^auth\.required = false {2}# default$/m)
  assert.match(stderr, /keeps of its last start is not among these settings/)
})

test('access opens further when somebody says so, once by a flag or in the file', async t => {
  const { at, served } = await servedPrivately(t)
  const opened = await served('live', {}, ['auth.required=false'])
  assert.equal(opened.status, 200)
  assert.match(opened.log, /nothing sets owners\.add any more/)
  assert.equal((await served('live', {})).status, 200)
  assert.equal((await served('live', PRIVATE)).status, 401)
  const file = at('live', 'plimsoll.toml')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/^# required = .*$/m, 'required = false'))
  assert.equal((await served('live', {})).status, 200)
})

test('of two settings of access that nobody says, the narrower one counts', () => {
  const before = (toml: string, env: Record<string, string> = {}) =>
    resolveSettings({ file: { name: 'f', text: toml }, env }).access
  const now = (toml: string, record: ReturnType<typeof before>) =>
    resolveSettings({ file: { name: 'f', text: toml }, before: record })
  const env = {
    PLIMSOLL_POLICY_PRESET: 'public',
    PLIMSOLL_POLICY_RESERVED_NAMES_EXTRA: 'admin',
    PLIMSOLL_AUTH_SESSION_SECONDS: '1h',
    PLIMSOLL_REGISTRY_API: 'none',
    PLIMSOLL_LIMITS_NEW_CRATES_PER_DAY: '5',
    PLIMSOLL_UPSTREAM_CRATES_IO_DENY: 'bad,worse',
    PLIMSOLL_UPSTREAM_CRATES_IO_ALLOW: 'good',
  }
  const upstream = '[upstream.crates-io]\nfallback = "serve"\ndeny = ["bad"]\n'
  const { settings, kept } = now(upstream, before(upstream, env))
  assert.deepEqual(kept.toSorted(), [
    'auth.session_seconds',
    'limits.new_crates_per_day',
    'policy.preset',
    'policy.reserved_names_extra',
    'registry.api',
    'upstream.crates-io.deny',
  ])
  assert.equal(settings.policy.description, 'error')
  assert.deepEqual(settings.upstream['crates-io']?.deny, ['bad', 'worse'])
  // What opened more than the file or the default is gone with its variable, and so is an upstream.
  const wide = { PLIMSOLL_AUTH_REQUIRED: 'false' }
  assert.deepEqual(now('', before(upstream, { ...env, ...wide })).settings.upstream, {})
  const closed = now('[auth]\nrequired = true\n', before('[auth]\nrequired = true\n', wide))
  assert.deepEqual([closed.kept, closed.settings.auth.required], [[], true])
  // An empty list of exceptions allows nothing: it stays, and the others go with their line.
  const allow = `${upstream}allow = ["good"]\n`
  const emptied = now(allow, before(allow, { PLIMSOLL_UPSTREAM_CRATES_IO_ALLOW: '' }))
  assert.deepEqual(emptied.settings.upstream['crates-io']?.allow, [])
  assert.deepEqual(now(upstream, before(allow)).settings.upstream['crates-io']?.allow, [])
  // A file that said the same before was overridden, and one that says something new counts.
  const overridden = before('[auth]\nrequired = false\n', { PLIMSOLL_AUTH_REQUIRED: 'true' })
  assert.equal(now('[auth]\nrequired = false\n', overridden).settings.auth.required, true)
  const changed = before('[auth]\nrequired = true\n')
  assert.equal(now('[auth]\nrequired = false\n', changed).settings.auth.required, false)
  assert.equal(now('', changed).settings.auth.required, true)
})

test('whom the registry believes stays, whatever else the file or the default names', () => {
  const file = `[issuer.github]\n[upstream.crates-io]\nfallback = "serve"\n
    [oidc.acme]\nissuer = "https://old.example"\nclient_id = "a"\nrequire = { hd = "acme.com" }\n
    [webhook.chat]\nurl = "https://old.example"\nsecret_file = "secret"\n`
  const env = {
    PLIMSOLL_ISSUER_GITHUB_ISSUER: 'https://ghes.example/_services/token',
    PLIMSOLL_ISSUER_GITHUB_AUDIENCE: 'ours',
    PLIMSOLL_ISSUER_GITHUB_JWKS_FILE: 'keys.json',
    PLIMSOLL_OIDC_ACME_ISSUER: 'https://login.example',
    PLIMSOLL_OIDC_ACME_SUBJECT_CLAIM: 'oid',
    PLIMSOLL_OIDC_ACME_ADMIN_GROUPS: 'ops',
    PLIMSOLL_UPSTREAM_CRATES_IO_INDEX: 'sparse+https://mirror.example/index/',
    PLIMSOLL_UPSTREAM_CRATES_IO_DENY_ADVISORIES: 'unsound',
    PLIMSOLL_WEBHOOK_CHAT_URL: 'https://chat.example/hook',
  }
  const resolved = (more: Parameters<typeof resolveSettings>[0]) =>
    resolveSettings({ file: { name: 'f', text: file }, ...more })
  const before = resolved({ env })
  const now = resolved({ before: before.access })
  assert.deepEqual(now.settings, before.settings)
  assert.equal(now.kept.length, Object.keys(env).length)
  const said = { PLIMSOLL_ISSUER_GITHUB_ISSUER: 'https://other.example' }
  const { issuer } = resolved({ before: before.access, env: said }).settings
  assert.equal(issuer.github?.issuer, 'https://other.example')
})
