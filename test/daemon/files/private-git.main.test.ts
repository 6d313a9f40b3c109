// Mirrors daemon/files/git-http/: a private registry
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { run } from '../../support/command.ts'
import { writeProject } from '../../support/project.ts'
import { publishTo } from '../../support/release.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

/** A private registry with `foo` in its git index. */
async function scene(t: TestContext) {
  const served = await servedFolder(t, { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_GIT_INDEX: 'on' })
  const folder = scratch(new Cleanup(t))
  await served.ok('user', 'add', 'alice')
  const token = await served.ok('token', 'create', '--user', 'alice')
  const files = { 'src/lib.rs': 'pub fn foo() {}\n' }
  const foo = { name: 'foo', version: '1.0.0', files }
  assert.equal((await publishTo(served.url, token, foo)).status, 200)
  const host = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  }
  /** Runs git with nothing of the host's configuration, and nobody to ask. */
  const git = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    run('git', args, { cwd: folder, env: { ...host, ...env } })
  // Commits follow a publish without it waiting for them.
  let tries = 0
  const isCommitted = async () => {
    const clone = join(folder, `first${tries++}`)
    const { code } = await git(['clone', '-q', withToken(served.url, token), clone])
    return code === 0 && existsSync(join(clone, '3/f/foo'))
  }
  await until(isCommitted, 'the publish is not committed')
  return { served, folder, token, git }
}

/** The address of the git index with a login in it. */
function withToken(url: string, password: string, user = 'anybody'): string {
  return `${url.replace('://', `://${user}:${password}@`)}/index.git`
}

test('git clones and fetches with a token as the password of anybody, and with nothing else', async t => {
  const { served, folder, token, git } = await scene(t)
  let serial = 0
  const place = () => join(folder, `clone${serial++}`)
  for (const env of [{}, { GIT_SMART_HTTP: '0' }]) {
    for (const user of ['anybody', 'x-access-token']) {
      const to = place()
      const cloned = await git(['clone', withToken(served.url, token, user), to], env)
      assert.equal(cloned.code, 0, cloned.stderr)
      assert.match(readFileSync(join(to, '3/f/foo'), 'utf8'), /^\{"name":"foo","vers":"1\.0\.0",/)
      assert.equal((await git(['-C', to, 'pull', '-q', '--ff-only'], env)).code, 0)
    }
    const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    for (const password of [wrong, '']) {
      const { code, stderr } = await git(['clone', withToken(served.url, password), place()], env)
      assert.equal(code, 128, password)
      assert.match(stderr, /Authentication failed|could not read (?:Username|Password)/, password)
    }
    const nobody = await git(['clone', `${served.url}/index.git`, place()], env)
    assert.equal(nobody.code, 128)
    assert.match(nobody.stderr, /could not read Username for '.*': terminal prompts disabled/)
  }
  const blind = await served.ok('token', 'create', '--user', 'alice', '--scope', 'publish-update')
  const refused = await git(['clone', withToken(served.url, blind), place()])
  assert.equal(refused.code, 128)
  assert.match(refused.stderr, /403/)
  const clone = join(folder, 'clone0')
  await served.ok('token', 'revoke', '2')
  assert.match((await git(['-C', clone, 'pull'])).stderr, /Authentication failed/)
})

for (const withCli of [true, false]) {
  test(`cargo reads a private git index by a credential helper, git-fetch-with-cli = ${withCli}`, async t => {
    const { served, folder, token } = await scene(t)
    const home = join(folder, 'home')
    mkdirSync(home)
    const helper = `[credential]\n  helper = "!f() { echo username=anybody; echo password=$PLIMSOLL_TEST_TOKEN; }; f"\n`
    writeFileSync(join(home, '.gitconfig'), helper)
    const cargo = (password: string) =>
      new Cargo(home, {
        registries: { test: `${served.url}/index.git` },
        cratesIo: 'sparse+http://127.0.0.1:9/',
        tokens: { test: token },
        config: `git-fetch-with-cli = ${withCli}\n`,
        env: {
          CARGO_REGISTRIES_TEST_CREDENTIAL_PROVIDER: 'cargo:token',
          PLIMSOLL_TEST_TOKEN: password,
        },
      })
    const toml = '[dependencies]\nfoo = { version = "1", registry = "test" }'
    const files = { 'src/lib.rs': 'pub fn app() { foo::foo() }\n' }
    const app = writeProject(join(folder, 'app'), { name: 'app', toml, files })
    const refused = await cargo('nonsense').fails(app.folder, 'check')
    assert.match(refused.stderr, /failed to authenticate|Authentication failed|authentication/)
    const checked = await cargo(token).ok(app.folder, 'check')
    assert.match(checked.stderr, /Downloaded foo v1\.0\.0[\s\S]*Checking foo v1\.0\.0/)
    const lib = writeProject(join(folder, 'lib'), { name: 'lib', toml })
    await cargo(token).ok(lib.folder, 'publish', '--allow-dirty', '--registry', 'test')
    const lock = readFileSync(join(app.folder, 'Cargo.lock'), 'utf8')
    assert.ok(lock.includes(`source = "registry+${served.url}/index.git"`))
  })
}
