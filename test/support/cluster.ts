import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { initRegistry } from '../../generator/registry/registry.ts'
import { Cleanup } from './cleanup.ts'
import { type Daemon, plimsoll, serve } from './plimsoll.ts'
import { execute, type TestServer } from './postgres.ts'
import { publishTo } from './release.ts'
import { startS3 } from './s3/bucket.ts'
import type { FakeS3 } from './s3/server.ts'
import { until } from './until.ts'
import { folderOf } from './workplace.ts'

/** A database, and folders that daemons share. */
export class Cluster {
  readonly name: string
  readonly shared: string
  readonly #t: TestContext
  readonly #server: TestServer
  readonly cleanup: Cleanup
  /** Their buckets, if they share buckets instead of folders. */
  readonly s3: FakeS3 | null

  private constructor(
    t: TestContext,
    server: TestServer,
    name: string,
    cleanup: Cleanup,
    s3: FakeS3 | null,
  ) {
    this.name = name
    this.#t = t
    this.#server = server
    this.cleanup = cleanup
    this.s3 = s3
    this.shared = folderOf(t)
  }

  static async make(
    t: TestContext,
    server: TestServer,
    name: string,
    isInBuckets = false,
  ): Promise<Cluster> {
    await server.create(name)
    const cleanup = new Cleanup(t)
    const s3 = isInBuckets ? await startS3(cleanup) : null
    return new Cluster(t, server, name, cleanup, s3)
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return execute(this.#server.url(this.name), sql)
  }

  environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      PLIMSOLL_DATABASE_URL: this.#server.url(this.name),
      PLIMSOLL_REGISTRY_BASE_URL: 'https://crates.example',
      PLIMSOLL_STORAGE_CRATES: join(this.shared, 'crates'),
      PLIMSOLL_STORAGE_PUBLIC: join(this.shared, 'public'),
      PLIMSOLL_API_ERROR_STATUS: 'http',
      PLIMSOLL_PAGES_SOURCE: 'false',
      ...this.s3?.env({ crates: 's3://test/crates', public: 's3://test/www' }),
      // Each daemon would have its own git index.
      ...(this.s3 && { PLIMSOLL_GIT_INDEX: 'off' }),
      ...more,
    }
  }

  /** Waits until nothing is left to render; overviews may wait for a minute. */
  rendered(): Promise<void> {
    const work = "SELECT 1 FROM marks WHERE kind NOT IN ('label', 'user', 'views')"
    return until(
      async () => (await this.query(work)).length === 0,
      () => 'work is left',
    )
  }

  /** Yanks a version of `demo` through a daemon that is killed when this is recorded and not shown. */
  async yankAndKill(daemon: Daemon, token: string, version: string): Promise<void> {
    // Nothing is rendered while somebody else has the mutex of the index files.
    const held = this.query(
      `BEGIN; SELECT pg_advisory_xact_lock(1886150004, hashtext(current_schema()));
        SELECT pg_sleep(600)`,
    ).catch(() => undefined)
    const holder = `FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND query LIKE '%pg_sleep(600)%'`
    await until(
      async () => (await this.query(`SELECT 1 ${holder}`)).length > 0,
      'nobody gets the mutex',
    )
    const yanking = yank(daemon, token, version).catch(() => undefined)
    const yanked = `SELECT 1 FROM audit WHERE action = 'yank' AND version = '${version}'`
    await until(async () => (await this.query(yanked)).length > 0, 'the yank is not recorded')
    await daemon.kill()
    await yanking
    await this.query(`SELECT pg_terminate_backend(pid) ${holder}`)
    await held
  }

  /** One more daemon, of this version or `which`, with its own registry folder. */
  async daemon(
    more: Record<string, string> = {},
    which?: readonly string[],
  ): Promise<Daemon & { readonly dir: string }> {
    const dir = folderOf(this.#t)
    await initRegistry(dir, { env: {} }, {})
    const env = this.environment(more)
    return { dir, ...(await serve(this.cleanup, dir, env, undefined, undefined, which)) }
  }

  /** The output of a daemon that does not start, because of these settings or of its version. */
  async refusal(
    more: Record<string, string>,
    which?: readonly string[],
    code = 1,
  ): Promise<string> {
    const dir = folderOf(this.#t)
    await initRegistry(dir, { env: {} }, {})
    const args = ['serve', '--dir', dir, '--listen', '127.0.0.1:0']
    const ended = await plimsoll(dir, args, this.environment(more), '', which)
    assert.equal(ended.code, code, ended.stderr)
    return ended.stderr
  }
}

/** Publishes a version of `demo` through a daemon. */
export function publish(
  { url }: Daemon,
  token: string,
  version: string,
  text = '',
): Promise<Response> {
  return publishTo(url, token, { name: 'demo', version, files: { 'src/lib.rs': text } })
}

/** Yanks a version of `demo` through a daemon. */
export function yank({ url }: Daemon, token: string, version: string): Promise<Response> {
  const headers = { authorization: token }
  return fetch(`${url}/api/v1/crates/demo/${version}/yank`, { method: 'DELETE', headers })
}

/** The versions of `demo` that a daemon shows, in the order of its lines. */
export async function shownVersions({ url }: Pick<Daemon, 'url'>): Promise<string[]> {
  const text = await (await fetch(`${url}/index/de/mo/demo`)).text()
  const lines = text.split('\n').filter(line => line !== '')
  return lines
    .map(line => JSON.parse(line) as { vers: string; yanked: boolean })
    .map(({ vers, yanked }) => (yanked ? `${vers} yanked` : vers))
}

/** The token that the first daemon of a registry prints. */
export function firstToken({ log }: Pick<Daemon, 'log'>): string {
  return /plim_\w{38}/.exec(log())?.[0] ?? ''
}
