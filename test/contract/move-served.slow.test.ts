// Mirrors generator/migrate/: registries that move while publishers and readers go on.
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRegistry } from '../../generator/open.ts'
import { MARK_KINDS } from '../../generator/projections/projections.ts'
import { eachCrate } from '../../generator/records/crates.ts'
import { countMarks } from '../../generator/records/marks.ts'
import { listReleases } from '../../generator/records/releases.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { assertServed, type Candidate, publish, tokenOf } from '../crash/truth.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { hostEnvironment, root, serve } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { startS3 } from '../support/s3/bucket.ts'
import { environmentOf } from '../support/s3/environment.ts'
import { until } from '../support/until.ts'
import { addAndShow, folderOf, newRegistry } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

/** Publishes as fast as it can, to a daemon that takes it or says that it does not now. */
class Publisher {
  readonly acknowledged: Candidate[] = []
  readonly refused: { readonly candidate: Candidate; readonly text: string }[] = []
  readonly #load: Promise<void>
  #isOver = false

  constructor(url: string, token: string, prefix: string) {
    this.#load = this.#publish(url, token, prefix)
  }

  /** Resolves when all answers are there. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#load
  }

  async #publish(url: string, token: string, prefix: string): Promise<void> {
    for (let count = 0; !this.#isOver; count++) {
      // Some crates are new, others have many versions.
      const name = count % 10 === 0 ? `${prefix}-new-${count}` : `${prefix}-${count % 7}`
      const candidate = { name, version: `1.${count}.0` }
      const answer = await publish(url, token, candidate)
      assert.ok(answer, 'every publish is answered')
      if (answer.status === 200) this.acknowledged.push(candidate)
      else {
        assert.equal(answer.status, 503, answer.text)
        assert.ok(answer.retryAfter >= 1 && answer.retryAfter <= 60, 'it says when to come back')
        this.refused.push({ candidate, text: answer.text })
      }
    }
  }
}

/** All versions of a registry. */
async function versionsOf({ database }: Registry): Promise<Set<string>> {
  const versions = new Set<string>()
  for await (const { id, name } of eachCrate(database))
    for (const { version } of await listReleases(database, id)) versions.add(`${name} ${version}`)
  return versions
}

/** Without what would be most of the work, and is not the subject. */
const LOAD = {
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_GIT_INDEX: 'off',
  PLIMSOLL_PAGES_SOURCE: 'false',
}

/** A registry before or after a move. */
interface Home {
  readonly dir: string
  readonly env: Record<string, string>
}

/** Moves a registry while its daemon takes publishes; returns what was acknowledged in all. */
async function moveUnderLoad(
  t: TestContext,
  { from, to, args, token }: { from: Home; to: Home; args: readonly string[]; token: string },
): Promise<readonly Candidate[]> {
  const cleanup = new Cleanup(t)
  const daemon = await serve(cleanup, from.dir, from.env)
  const publisher = new Publisher(daemon.url, token, args.includes('file') ? 'back' : 'there')
  const { acknowledged, refused } = publisher
  await until(
    () => acknowledged.length > 10,
    () => `nothing is published: ${daemon.log()}`,
  )
  const before = acknowledged.length
  const command = ['migrate', '--dir', from.dir, '--json', ...args]
  // All these programs share a machine with many others.
  const moved = await run(process.execPath, [join(root, 'dist', 'program', 'cli.js'), ...command], {
    cwd: from.dir,
    env: { ...hostEnvironment(), ...from.env },
    timeoutMs: 240_000,
  })
  expectCode('migrate', moved, 0)
  const answered = refused.length
  await until(() => refused.length > answered + 5, 'publishes are not refused after the move')
  await publisher.end()
  assert.match(refused.at(-1)?.text ?? '', /have moved/)
  assert.ok(refused.some(refusal => /is paused .* until/.test(refusal.text)))
  assert.ok(acknowledged.length > before, 'publishes go on while the files are copied')
  for (const candidate of acknowledged.slice(-3)) await assertServed(daemon.url, candidate)
  assert.equal(await (await fetch(`${daemon.url}/readyz`)).text(), 'ready\n')
  daemon.stop()
  const status = await plimsollHere(['status', '--dir', from.dir], from.env)
  assert.match(status.stderr, /were moved to .* at .*, and take no changes/)
  const registry = await openRegistry(to.dir, { env: to.env })
  const versions = await versionsOf(registry)
  for (const { name, version } of acknowledged)
    assert.ok(versions.has(`${name} ${version}`), `${name} ${version} was acknowledged`)
  for (const { candidate } of refused)
    assert.ok(!versions.has(`${candidate.name} ${candidate.version}`), 'a refused version')
  await registry.close()
  const { paused_ms: paused } = JSON.parse(moved.stdout) as Record<string, number>
  t.diagnostic(`${acknowledged.length} acknowledged, ${refused.length} refused in ${paused} ms`)
  return acknowledged
}

/** Lets a daemon render what is pending, and checks that everything agrees. */
async function settle(t: TestContext, { dir, env }: Home, versions: readonly Candidate[]) {
  const daemon = await serve(new Cleanup(t), dir, env)
  for (const candidate of versions.slice(-3)) await assertServed(daemon.url, candidate)
  const registry = await openRegistry(dir, { env })
  await until(
    async () => (await countMarks(registry.database, MARK_KINDS)).length === 0,
    () => `the new daemon does not render what is pending: ${daemon.log()}`,
    // Overviews may be put off for a minute.
    3 * 60_000,
  )
  await registry.close()
  await daemon.kill()
  expectCode('verify', await plimsollHere(['verify', '--dir', dir], env), 0)
}

test('a registry moves to a server and buckets and back while all publish', { skip }, async t => {
  const s3 = await startS3(new Cleanup(t))
  const first = await newRegistry(t)
  const token = await tokenOf(first)
  await addAndShow(first, { name: 'seed', version: '1.0.0' })
  await first.close()
  const url = await server.create('served')
  const there = folderOf(t)
  copyFileSync(join(first.dir, 'plimsoll.toml'), join(there, 'plimsoll.toml'))
  const storage = { ...environmentOf(s3, {}), ...LOAD }
  const places = {
    PLIMSOLL_STORAGE_CRATES: 's3://test/crates',
    PLIMSOLL_STORAGE_PUBLIC: 's3://test/www',
  }
  const file: Home = { dir: first.dir, env: storage }
  const away: Home = { dir: there, env: { ...storage, ...places, PLIMSOLL_DATABASE_URL: url } }
  const home: Home = { dir: there, env: { ...storage, PLIMSOLL_STORAGE_PUBLIC: 'www' } }
  expectCode('build', await plimsollHere(['build', '--dir', first.dir], storage), 0)
  const toServer = ['--to', url, '--crates', 's3://test/crates', '--public', 's3://test/www']
  await settle(t, away, await moveUnderLoad(t, { from: file, to: away, args: toServer, token }))
  const toFile = ['--to', 'file', '--crates', 'crates', '--public', 'www']
  await settle(t, home, await moveUnderLoad(t, { from: away, to: home, args: toFile, token }))
})
