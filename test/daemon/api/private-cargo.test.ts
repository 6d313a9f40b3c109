// Mirrors daemon/api/: real Cargo and a private registry
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { type CrateText, writeProject } from '../../support/project.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'plimsoll']

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
  const served = await servedFolder(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const folder = scratch(new Cleanup(t))
  const cargoIn = (home: string) =>
    new Cargo(join(folder, home), {
      registries: {},
      cratesIo: 'sparse+http://127.0.0.1:9/',
      config: pasted(served.log()),
    })
  const [alice, stranger] = [cargoIn('alice'), cargoIn('stranger')]
  for (const login of ['alice', 'bob']) await served.ok('user', 'add', login)
  await alice.logIn(folder, 'plimsoll', await served.ok('token', 'create', '--user', 'alice'))
  const project = (crate: CrateText) => writeProject(join(folder, `the-${crate.name}`), crate)
  const library = { 'src/lib.rs': 'pub fn foo() -> u8 { 7 }\n' }
  await alice.ok(project({ name: 'foo', files: library }).folder, ...PUBLISH)
  const app = project({
    name: 'app',
    toml: '[dependencies]\nfoo = { version = "1", registry = "plimsoll" }',
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
  assert.match((await stranger.fails(app.folder, 'update')).stderr, /no token found for `plimsoll`/)
  assert.doesNotMatch(
    served.log().replace(/^ {4}plim_.*$/m, ''),
    /plim_/,
    'no token gets into the log',
  )
})
