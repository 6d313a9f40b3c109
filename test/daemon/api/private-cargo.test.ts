// Mirrors daemon/api/: real Cargo and a private registry
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { type CrateText, type Project, writeProject } from '../../support/project.ts'
import { RemoteBrowser } from '../../support/remote-browser.ts'
import { scratch } from '../../support/scratch.ts'
import { type ServedFolder, servedFolder } from '../../support/served-folder.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'plimsoll']
const PASSWORD = 'correct horse battery'

interface Scene {
  readonly served: ServedFolder
  /** A folder that belongs to no project. */
  readonly folder: string
  /** A cargo of its own that has been given a token with `cargo login`, or none. */
  cargo(token?: string): Promise<Cargo>
  /** Adds a user; a token of theirs. */
  member(login: string): Promise<string>
  project(crate: CrateText): Project
}

/** A private registry, people and projects. */
async function scene(t: TestContext, env: NodeJS.ProcessEnv = {}): Promise<Scene> {
  const served = await servedFolder(t, { PLIMSOLL_AUTH_REQUIRED: 'true', ...env })
  const folder = scratch(new Cleanup(t))
  let count = 0
  return {
    served,
    folder,
    async cargo(token) {
      const cargo = new Cargo(join(folder, `home${count++}`), {
        registries: {},
        cratesIo: 'sparse+http://127.0.0.1:9/',
        config: pasted(served.log()),
      })
      if (token !== undefined) await cargo.logIn(folder, 'plimsoll', token)
      return cargo
    },
    async member(login) {
      const added = await served.run(['user', 'add', login, '--password-stdin'], PASSWORD)
      assert.equal(added.code, 0, added.stderr)
      return served.ok('token', 'create', '--user', login)
    },
    project: crate => writeProject(join(folder, `${count++}-${crate.name}`), crate),
  }
}

/** What the daemon says is to be pasted into Cargo's configuration. */
function pasted(log: string): string {
  const [, block] =
    /^Paste this into \.cargo\/config\.toml:\n\n([\s\S]*?)\n\nThe page of the registry is /m.exec(
      log,
    ) ?? []
  assert.match(block ?? '', /^global-credential-providers = \["cargo:token"\]$/m)
  return `${block}\n`
}

test('cargo publishes, builds and shares a crate of a private registry, with the token that cargo login took', async t => {
  const { served, folder, cargo, member, project } = await scene(t)
  const alice = await cargo(await member('alice'))
  await member('bob')
  await alice.ok(
    project({ name: 'foo', files: { 'src/lib.rs': 'pub fn foo() -> u8 { 7 }\n' } }).folder,
    ...PUBLISH,
  )
  const toml = '[dependencies]\nfoo = { version = "1", registry = "plimsoll" }'
  const app = project({
    name: 'app',
    toml,
    files: { 'src/lib.rs': 'pub fn app() -> u8 { foo::foo() }\n' },
  })
  const built = await alice.ok(app.folder, 'build')
  assert.match(
    built.stderr,
    /Downloaded foo v1\.0\.0 \(registry `plimsoll`\)[\s\S]*Compiling foo v1\.0\.0/,
  )
  await alice.ok(app.folder, ...PUBLISH)
  const owner = async (...args: string[]) =>
    alice.ok(folder, 'owner', '--registry', 'plimsoll', ...args, 'foo')
  assert.equal((await owner('--list')).stdout, 'alice\n')
  assert.match((await owner('--add', 'bob')).stderr, /Owner bob now owns `foo`/)
  assert.equal((await owner('--list')).stdout, 'alice\nbob\n')
  assert.match((await owner('--remove', 'bob')).stderr, /Owner removing \["bob"\] from crate foo/)
  await alice.ok(folder, 'logout', '--registry', 'plimsoll')
  for (const args of [
    ['search', '--registry', 'plimsoll', 'foo'],
    ['owner', '--registry', 'plimsoll', '--list', 'foo'],
  ]) {
    assert.match(
      (await alice.fails(folder, ...args)).stderr,
      /no token found for `plimsoll`, please run `cargo login --registry plimsoll`/,
    )
  }
  const stranger = await cargo()
  assert.match((await stranger.fails(app.folder, 'update')).stderr, /no token found for `plimsoll`/)
  assert.doesNotMatch(
    served.log().replace(/^ {4}plim_.*$/m, ''),
    /plim_/,
    'no token gets into the log',
  )
})

test('a token loses its powers while cargo works with it: revoked, locked, without a scope', async t => {
  const { served, folder, cargo, member, project } = await scene(t)
  const alice = await cargo(await member('alice'))
  await alice.ok(project({ name: 'foo' }).folder, ...PUBLISH)
  const make = async (...options: string[]) =>
    cargo(await served.ok('token', 'create', '--user', 'alice', ...options))
  const next = project({ name: 'foo', version: '1.0.1' })
  const blind = await make('--scope', 'publish-update')
  assert.match(
    (await blind.fails(next.folder, ...PUBLISH)).stderr,
    /this token may not do that: it lacks the scope `read`/,
  )
  const reader = await make('--scope', 'read')
  assert.match(
    (await reader.fails(next.folder, ...PUBLISH)).stderr,
    /\(status 403 Forbidden\): this token may not do that: it lacks the scope `publish-new or publish-update`/,
  )
  const ci = await make('--scope', 'read', 'publish-update')
  await ci.ok(next.folder, ...PUBLISH)
  await served.ok('user', 'lock', 'alice')
  const denied = await ci.fails(folder, 'search', '--registry', 'plimsoll', 'foo')
  assert.match(
    denied.stderr,
    /\(status 403 Forbidden\): this token is good, but the account is locked; ask an administrator/,
  )
  await served.ok('user', 'unlock', 'alice')
  await ci.ok(folder, 'search', '--registry', 'plimsoll', 'foo')
})

test('an invitation to own a crate is told, waits, and is accepted or declined in the browser', async t => {
  const { served, folder, cargo, member, project } = await scene(t, {
    PLIMSOLL_OWNERS_ADD: 'invite',
  })
  const alice = await cargo(await member('alice'))
  const bob = await cargo(await member('bob'))
  await member('carol')
  await alice.ok(project({ name: 'foo' }).folder, ...PUBLISH)
  const owner = (...args: string[]) =>
    alice.ok(folder, 'owner', '--registry', 'plimsoll', ...args, 'foo')
  const invited = await owner('--add', 'bob', '--add', 'carol')
  assert.match(
    invited.stderr,
    new RegExp(`Owner invited bob, carol to own \`foo\`; it can be accepted at ${served.url}/me`),
  )
  assert.match((await owner('--add', 'bob')).stderr, /Owner invited bob to own `foo`/)
  assert.equal((await owner('--list')).stdout, 'alice\n')
  const next = project({ name: 'foo', version: '1.0.1' })
  assert.match(
    (await bob.fails(next.folder, ...PUBLISH)).stderr,
    /the remote server responded with an error: .*`bob`/,
  )
  const answer = async (login: string, verb: 'accept' | 'decline') => {
    const browser = new RemoteBrowser(served.url)
    assert.equal((await browser.logIn(login, PASSWORD)).status, 303)
    assert.match(await (await browser.get('/me')).text(), /\/me\/invitations\/foo\/accept/)
    return (await browser.post(`/me/invitations/foo/${verb}`)).status
  }
  assert.equal(await answer('carol', 'decline'), 303)
  assert.equal(await answer('bob', 'accept'), 303)
  assert.equal((await owner('--list')).stdout, 'alice\nbob\n')
  await bob.ok(next.folder, ...PUBLISH)
  assert.match((await owner('--remove', 'alice')).stderr, /Owner removing/)
  assert.equal(
    (await bob.ok(folder, 'owner', '--registry', 'plimsoll', '--list', 'foo')).stdout,
    'bob\n',
  )
  const actions = JSON.parse(await served.ok('audit', '--json', '--crate', 'foo')) as {
    action: string
    actor: string
  }[]
  assert.deepEqual(
    actions.map(({ actor, action }) => `${actor} ${action}`),
    [
      'alice publish',
      'alice owner-invite',
      'alice owner-invite',
      'alice owner-invite',
      'carol invitation-decline',
      'bob owner-add',
      'bob publish',
      'alice owner-remove',
    ],
  )
})
