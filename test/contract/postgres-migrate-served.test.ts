// Mirrors generator/migrate/: registries that move while a daemon takes publishes.
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { crateKey } from '../../core/paths/crates.ts'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { createToken } from '../../daemon/accounts/tokens.ts'
import { openRegistry, type Registry } from '../../generator/registry.ts'
import { operatorChange } from '../../generator/store/catalog/change.ts'
import { eachCrate } from '../../generator/store/catalog/crates.ts'
import { countMarks } from '../../generator/store/catalog/marks.ts'
import { listReleases } from '../../generator/store/catalog/releases.ts'
import { assertServed, type Candidate, publish } from '../crash/truth.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { filesBelow } from '../support/folder.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { startS3 } from '../support/s3/bucket.ts'
import { environmentOf } from '../support/s3/environment.ts'
import { until } from '../support/until.ts'
import { addAndShow, folderOf, newRegistry } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

/** Publishes all the time, to daemons that take it or say that they no longer do. */
class Publishers {
  readonly acknowledged: Candidate[] = []
  readonly refused: { readonly one: Candidate; readonly text: string }[] = []
  readonly #loads: Promise<void>[]
  #isOver = false

  constructor(url: string, token: string, prefix: string, count = 2) {
    this.#loads = Array.from({ length: count }, (_, number) =>
      this.#publish(url, token, `${prefix}-${number}`),
    )
  }

  /** Resolves when all answers are there. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loads)
  }

  async #publish(url: string, token: string, prefix: string): Promise<void> {
    for (let count = 0; !this.#isOver; count++) {
      // Some crates are new, one has many versions.
      const name = count % 2 === 0 ? `${prefix}-${count}` : prefix
      const one = { name, version: `1.${count}.0` }
      const answer = await publish(url, token, one)
      assert.ok(answer, 'every publish is answered')
      if (answer.status === 200) this.acknowledged.push(one)
      else {
        assert.equal(answer.status, 503, answer.text)
        this.refused.push({ one, text: answer.text })
      }
    }
  }
}

async function tokenOf({ database }: Registry): Promise<string> {
  const at = '2026-11-20T12:00:00Z'
  const user = await addUser(database, { login: 'load', admin: true }, operatorChange(at))
  const order = { userId: user.id, name: 'load', scopes: null, crates: null, expires: null }
  return (await createToken(database, order, operatorChange(at))).token
}

/** All versions of a registry, with the keys of their bytes. */
async function versionsOf({ database }: Registry): Promise<Map<string, string>> {
  const versions = new Map<string, string>()
  for await (const { id, name } of eachCrate(database))
    for (const { version, cksum } of await listReleases(database, id))
      versions.set(`${name} ${version}`, crateKey(name, cksum))
  return versions
}

/** The files of a public tree without the git index, which has a history. */
function treeOf(dir: string): Map<string, string> {
  const tree = join(dir, 'public')
  const paths = filesBelow(tree).filter(path => !path.startsWith('index.git/'))
  return new Map(paths.map(path => [path, readFileSync(join(tree, path), 'base64')]))
}

/** Without what would be most of the work, and is not the subject. */
const LOAD = {
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_GIT_INDEX: 'off',
  PLIMSOLL_PAGES_SOURCE: 'false',
}

/** A registry on its way, before or after a move. */
interface Home {
  readonly dir: string
  readonly env: Record<string, string>
}

/**
 * Moves a registry while its daemon takes publishes; returns what the daemon has rendered. The
 * copy of the `.crate` of `seed` is held up until others were published meanwhile.
 */
async function moveUnderLoad(
  t: TestContext,
  s3: Awaited<ReturnType<typeof startS3>>,
  { from, to, args, token }: { from: Home; to: Home; args: readonly string[]; token: string },
): Promise<Map<string, string>> {
  const cleanup = new Cleanup(t)
  const daemon = await serve(cleanup, from.dir, from.env)
  const publishers = new Publishers(daemon.url, token, args.includes('file') ? 'back' : 'there')
  const { acknowledged, refused } = publishers
  await until(
    () => acknowledged.length > 4,
    () => `nothing is published: ${daemon.log()}`,
  )
  let enough = 0
  s3.fault = ({ key }) => {
    if (!key.includes('/seed/')) return null
    enough ||= acknowledged.length + 5
    return acknowledged.length < enough ? 503 : null
  }
  const moved = await plimsoll(
    from.dir,
    ['migrate', '--dir', from.dir, '--json', ...args],
    from.env,
  )
  expectCode('migrate', moved, 0)
  assert.ok(enough > 4, 'the copy was held up')
  assert.ok(acknowledged.length >= enough, 'publishes go on while everything is copied')
  const before = refused.length
  await until(
    () => refused.length > before,
    () => 'publishes are not refused after the move',
  )
  await publishers.end()
  for (const { text } of refused) assert.match(text, /has been moved/)
  for (const one of acknowledged.slice(0, 3)) await assertServed(daemon.url, one)
  const old = await openRegistry(from.dir, { env: from.env }, undefined, undefined, true)
  await until(
    async () => (await countMarks(old.database)).length === 0,
    () => 'the daemon does not render what it has acknowledged',
    // Overviews may be put off for a minute.
    2 * 60_000,
  )
  assert.equal(await (await fetch(`${daemon.url}/readyz`)).text(), 'not ready: moved\n')
  const tree = treeOf(from.dir)
  const known = await versionsOf(old)
  await old.close()
  await daemon.kill()
  const status = await plimsoll(from.dir, ['status', '--dir', from.dir], from.env)
  assert.match(status.stderr, /were moved to .* at .*plimsoll migrate --undo/)
  const registry = await openRegistry(to.dir, { env: to.env })
  const versions = await versionsOf(registry)
  assert.deepEqual(versions, known)
  for (const { name, version } of acknowledged)
    assert.ok(versions.has(`${name} ${version}`), `${name} ${version} was acknowledged`)
  for (const { one } of refused)
    assert.ok(!versions.has(`${one.name} ${one.version}`), `${one.name} was refused`)
  await registry.close()
  const { paused_ms: paused, copied } = JSON.parse(moved.stdout) as Record<string, number>
  t.diagnostic(
    `${acknowledged.length} publishes acknowledged, ${refused.length} refused, ${copied} files copied, paused for ${paused} ms`,
  )
  return tree
}

/** The files of a tree but the `.crate` files, which a tree need not have. */
function pagesOf(tree: Map<string, string>): Map<string, string> {
  return new Map([...tree].filter(([path]) => !path.endsWith('.crate')))
}

test('a registry moves to a server and a bucket and back while it takes publishes', {
  skip,
}, async t => {
  const s3 = await startS3(new Cleanup(t))
  const first = await newRegistry(t)
  const [token, seed] = [await tokenOf(first), { name: 'seed', version: '1.0.0' }]
  await addAndShow(first, seed)
  const url = await server.create('served')
  const there = folderOf(t)
  copyFileSync(join(first.dir, 'plimsoll.toml'), join(there, 'plimsoll.toml'))
  const storage = { ...environmentOf(s3, {}), ...LOAD }
  const file: Home = { dir: first.dir, env: storage }
  const away: Home = {
    dir: there,
    env: {
      ...storage,
      PLIMSOLL_DATABASE_URL: url,
      PLIMSOLL_STORAGE_CRATES: 's3://test/crates',
    },
  }
  const build = async ({ dir, env }: Home, ...args: string[]) => {
    expectCode('build', await plimsollHere(['build', ...args, '--dir', dir], env), 0)
    expectCode('verify', await plimsollHere(['verify', '--dir', dir], env), 0)
    return treeOf(dir)
  }
  await build(file)
  const toServer = ['--to', url, '--crates', 's3://test/crates']
  const before = await moveUnderLoad(t, s3, { from: file, to: away, args: toServer, token })
  assert.deepEqual(pagesOf(await build(away)), pagesOf(before))
  const home: Home = { dir: there, env: storage }
  const toFile = ['--to', 'file', '--crates', 'crates']
  const then = await moveUnderLoad(t, s3, { from: away, to: home, args: toFile, token })
  const after = await build(home, '--all')
  assert.deepEqual(pagesOf(after), pagesOf(then))
  assert.ok(after.size > before.size)
})
