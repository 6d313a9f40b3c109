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
