import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Logger } from 'pino'
import { parseName } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { parseVersion } from '../../core/version.ts'
import { createApp } from '../../daemon/app.ts'
import type { Deps } from '../../daemon/deps.ts'
import { openLog } from '../../daemon/http/log.ts'
import { Metrics } from '../../daemon/http/metrics.ts'
import { upstreamMetrics } from '../../daemon/upstream/metrics.ts'
import { DownloadCounter } from '../../daemon/workers/download-worker.ts'
import { GitWorker } from '../../daemon/workers/git-worker.ts'
import { IndexWorker } from '../../daemon/workers/index-worker.ts'
import { addUser } from '../../generator/accounts/accounts.ts'
import { type OidcClient, openOidc } from '../../generator/accounts/oidc/client.ts'
import { createToken, type TokenOrder } from '../../generator/accounts/tokens.ts'
import { all } from '../../generator/database/statement.ts'
import { GitIndex } from '../../generator/git/git-index.ts'
import { openRegistry } from '../../generator/open.ts'
import { build } from '../../generator/pages/build.ts'
import { type Change, operatorChange } from '../../generator/records/change.ts'
import { deleteReleases } from '../../generator/registry/changes/delete.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { initRegistry, type Registry } from '../../generator/registry/registry.ts'
import { TrustedIssuers } from '../../generator/trust/verify.ts'
import {
  openUpstreams,
  type UpstreamLimits,
  type Upstreams,
} from '../../generator/upstream/open.ts'
import { Cleanup } from './cleanup.ts'
import type { CrateParts } from './crate-builder.ts'
import { isOnPostgres, newDatabase, writeEmptyFile } from './engine.ts'
import { withChangeHook } from './query-hook.ts'
import { BASE, publishRequest } from './release.ts'

export interface TestRegistryOptions {
  /** Settings as environment variables: `{ PLIMSOLL_AUTH_REQUIRED: 'true' }`. */
  readonly env?: Readonly<Record<string, string>>
  readonly logLevel?: string
  /** An existing parent folder for the registry; by default, the folder of temporary files. */
  readonly parent?: string
  /** Whether it has a git index; default: none. */
  readonly git?: boolean
  /** Of upstreams. */
  readonly limits?: UpstreamLimits
  /** Runs just before each transaction of the daemon. */
  readonly beforeChange?: () => Promise<void>
}

/** The settings of an upstream `up` that is never asked. */
export const NO_UPSTREAM = {
  PLIMSOLL_UPSTREAM_UP_INDEX: 'sparse+http://127.0.0.1:9/',
  PLIMSOLL_UPSTREAM_UP_OFFLINE: 'true',
}

/** The wanted token; without scopes and crates it may do everything. */
export type TokenWish = Partial<Pick<TokenOrder, 'scopes' | 'crates' | 'expires' | 'name'>>

/**
 * A real registry in a temporary folder, with its app, and no socket. The clock stands still until
 * a test moves it; folder and stores go away with the test.
 */
export class TestRegistry implements Deps {
  readonly dir: string
  readonly registry: Registry
  readonly indexWorker: IndexWorker
  readonly log: Logger
  readonly metrics: Metrics
  readonly downloads = new DownloadCounter()
  readonly git: GitWorker | null
  readonly upstreams: Upstreams
  readonly logins: ReadonlyMap<string, OidcClient>
  readonly issuers: TrustedIssuers
  readonly app: ReturnType<typeof createApp>
  /** Every line that was logged, as JSON text. */
  readonly logged: string[] = []
  /** The errors of builds. */
  readonly buildFailures: unknown[] = []
  now = new Date('2026-11-20T12:00:00Z')
  readonly timing = { build: 15_000, retry: 20 }

  private constructor(
    dir: string,
    registry: Registry,
    { logLevel = 'debug' }: TestRegistryOptions,
    git: GitIndex | null,
    upstreams: Upstreams,
  ) {
    this.upstreams = upstreams
    this.logins = openOidc(registry, {})
    this.dir = dir
    this.git =
      git &&
      new GitWorker(git, { lease: registry.locks.lease('git'), isLeading: true }, error =>
        this.buildFailures.push(error),
      )
    this.registry = registry
    this.log = openLog(logLevel, { write: line => this.logged.push(line) })
    this.indexWorker = new IndexWorker(
      this.registry,
      error => this.buildFailures.push(error),
      this.timing,
    )
    this.metrics = new Metrics(this.registry)
    this.issuers = new TrustedIssuers({ ...registry, env: {} })
    upstreamMetrics(upstreams, this.metrics.prometheus, this.registry.clock)
    this.app = createApp(this)
  }

  static async open(
    t: ConstructorParameters<typeof Cleanup>[0],
    options: TestRegistryOptions = {},
  ): Promise<TestRegistry> {
    const dir = mkdtempSync(join(options.parent ?? tmpdir(), 'plimsoll-test-'))
    const sources = { env: { PLIMSOLL_REGISTRY_BASE_URL: BASE, ...options.env } }
    const { settings, drop } = await newDatabase()
    await initRegistry(dir, sources, settings)
    if (!isOnPostgres) await writeEmptyFile(join(dir, DATABASE_FILE))
    const registry = await openRegistry(dir, sources)
    await build(registry)
    const git = options.git ? await GitIndex.open(registry) : null
    const clock = (): Date => test.now
    const { limits = {}, beforeChange } = options
    const database = beforeChange
      ? withChangeHook(registry.database, beforeChange)
      : registry.database
    const hooked = { ...registry, database, clock }
    const upstreams = await openUpstreams(hooked, { env: sources.env, limits })
    const test: TestRegistry = new TestRegistry(dir, hooked, options, git, upstreams)
    await test.git?.start()
    new Cleanup(t).add(async () => {
      await test.git?.close()
      await test.indexWorker.close()
      await upstreams.close()
      for (const client of test.logins.values()) await client.close()
      await registry.close()
      await drop()
      rmSync(dir, { recursive: true, force: true })
    })
    return test
  }

  /** Adds a user and gives a token of theirs. */
  async user(login: string, wish: TokenWish = {}, admin = false): Promise<string> {
    const user = await addUser(this.registry.database, { login, admin }, this.#operator())
    return this.token(user.id, wish)
  }

  /** One more token of a user. */
  async token(userId: number, wish: TokenWish = {}): Promise<string> {
    const order = {
      userId,
      name: 'test',
      scopes: null,
      crates: null,
      expires: null,
    }
    return (await createToken(this.registry.database, { ...order, ...wish }, this.#operator()))
      .token
  }

  #operator(): Change {
    return operatorChange(timestamp(this.now))
  }

  /** Sends a request; `token` goes into `Authorization` bare, as Cargo sends it. */
  async request(
    method: string,
    path: string,
    token?: string | null,
    init: RequestInit = {},
  ): Promise<Response> {
    const headers = new Headers(init.headers)
    if (token) headers.set('authorization', token)
    return this.app.request(`${BASE}${path}`, { ...init, method, headers })
  }

  /** Sends a publish request with a body made elsewhere. */
  async publishBody(
    token: string | null,
    body: RequestInit['body'],
    init: RequestInit = {},
  ): Promise<Answer> {
    const response = await this.request('PUT', '/api/v1/crates/new', token, {
      ...init,
      ...DUPLEX,
      body: body ?? null,
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }

  /** Publishes a good crate, the way Cargo does; `metadata` overrides Cargo's. */
  publish(token: string | null, parts: CrateParts, metadata: object = {}): Promise<Answer> {
    return this.publishBody(token, publishRequest(parts, metadata))
  }

  /** Deletes a crate, or one of its versions, as an operator does who insists. */
  async delete(name: string, version: string | null = null): Promise<void> {
    const which = version === null ? null : parseVersion(version)
    const target = { name: parseName(name), version: which, force: true }
    await deleteReleases(this.registry, target, operatorChange(timestamp(this.now)))
  }

  /** The text of a file of the public tree, which has to be there. */
  async text(path: string): Promise<string> {
    return (await this.shown(path)) ?? assert.fail(`there is no ${path}`)
  }

  /** The text of a file of the public tree; null when there is none. */
  async shown(path: string): Promise<string | null> {
    return (await this.registry.tree.read(path))?.toString('utf8') ?? null
  }

  /**
   * Everything the registry keeps: files of both trees with their bytes, and the rows that a
   * publish may write.
   */
  async everything(): Promise<Record<string, unknown>> {
    await this.indexWorker.settle()
    await this.indexWorker.pages.flush()
    const tables = {
      crates: 'ORDER BY id',
      releases: 'ORDER BY id',
      owners: 'ORDER BY crate_id, user_id',
      audit: 'WHERE crate IS NOT NULL ORDER BY id',
      marks: 'ORDER BY subject',
    }
    const rows: Record<string, unknown> = {}
    for (const [table, rest] of Object.entries(tables))
      rows[table] = await all(this.registry.database, `SELECT * FROM ${table} ${rest}`)
    return {
      ...rows,
      files: [...files(join(this.dir, 'crates')), ...files(join(this.dir, 'public'))],
    }
  }

  /** The log, to assert what it must not contain. */
  logText(): string {
    return this.logged.join('')
  }
}

/** An answer of the web API. */
export interface Answer {
  readonly status: number
  readonly body: {
    readonly errors?: readonly { readonly detail: string }[]
    readonly warnings?: { invalid_categories: string[]; invalid_badges: string[]; other: string[] }
    readonly ok?: boolean
  }
}

/** Node's `fetch` types want it said that a streamed body is sent while the answer is read. */
const DUPLEX = { duplex: 'half' } as const

/** Path and content of every file below a folder, hidden and half-written ones included. */
function files(root: string): string[] {
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return `${relative(join(root, '..'), path)} ${readFileSync(path).toString('base64').slice(-64)}`
    })
    .sort()
}
