import { createApp } from '../../../daemon/app.ts'
import { openLog } from '../../../daemon/http/log.ts'
import type { Metrics } from '../../../daemon/http/metrics.ts'
import { DownloadCounter } from '../../../daemon/workers/download-worker.ts'
import { IndexWorker } from '../../../daemon/workers/index-worker.ts'
import { TakeoverWorker } from '../../../daemon/workers/takeover-worker.ts'
import { openRegistry } from '../../../generator/open.ts'
import { beginServing } from '../../../generator/serving.ts'
import { TrustedIssuers } from '../../../generator/trust/verify.ts'
import { openUpstreams } from '../../../generator/upstream/open.ts'
import { BUCKET_HOST } from './bucket.ts'
import { DATABASE_HOST } from './postgres/connection.ts'
import type { VirtualProcess } from './process.ts'

/** The address of the registry for readers. */
export const BASE = 'http://crates.simulated'

/** The settings of every daemon. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: 'SIMULATED',
  AWS_SECRET_ACCESS_KEY: 'simulated',
  PLIMSOLL_API_ERROR_STATUS: 'http',
  PLIMSOLL_DATABASE_SSLMODE: 'disable',
  PLIMSOLL_DATABASE_URL: `postgres://plimsoll@${DATABASE_HOST}/registry`,
  PLIMSOLL_GIT_INDEX: 'off',
  PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '0',
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_OWNERS_PUBLIC: 'true',
  PLIMSOLL_PAGES_SOURCE: 'false',
  PLIMSOLL_REGISTRY_BASE_URL: BASE,
  PLIMSOLL_STORAGE_CRATES: 's3://test/crates',
  PLIMSOLL_STORAGE_ENDPOINT: `http://${BUCKET_HOST}`,
  PLIMSOLL_STORAGE_PUBLIC: 's3://test/public',
  PLIMSOLL_STORAGE_REGION: 'eu-test-1',
}

/** The parts of a daemon that a simulation replaces. */
export interface Parts {
  /** The metrics of the whole program. */
  readonly metrics: Metrics
  /** Whether it takes over work from dead daemons; without it the planted fault must be found. */
  readonly takesOver: boolean
}

/** A daemon that serves, as `plimsoll serve` does it, but for sockets, git and downloads. */
export class Daemon {
  readonly process: VirtualProcess
  readonly name: string
  readonly url = BASE
  readonly #app: ReturnType<typeof createApp>

  private constructor(process: VirtualProcess, app: ReturnType<typeof createApp>) {
    this.process = process
    this.name = process.name
    this.#app = app
  }

  /** Starts a daemon in a registry folder; to be called in its process. */
  static async start(process: VirtualProcess, dir: string, parts: Parts): Promise<Daemon> {
    // Failed background work is tried again; lasting failures are found at the end.
    const onFailure = () => undefined
    const registry = await openRegistry(dir, { env: ENVIRONMENT, base: BASE })
    const serving = await beginServing(registry, BASE)
    if (!serving) throw new Error('the records are not on a server')
    await registry.crates.sweep()
    const indexWorker = new IndexWorker(registry, onFailure)
    // Pages are left out.
    indexWorker.pages.wake = () => undefined
    if (parts.takesOver) await new TakeoverWorker(registry, serving, indexWorker, onFailure).start()
    await indexWorker.catchUp()
    const app = createApp({
      registry,
      indexWorker,
      log: openLog('silent', { write: () => undefined }),
      metrics: parts.metrics,
      git: null,
      downloads: new DownloadCounter(),
      upstreams: await openUpstreams(registry, { env: {} }),
      issuers: new TrustedIssuers({ ...registry, env: {} }),
      logins: new Map(),
    })
    return new Daemon(process, app)
  }

  /** Answers a request. */
  async fetch(request: Request): Promise<{ readonly status: number; readonly bytes: Buffer }> {
    return this.process.run(async () => {
      const answer = await this.#app.fetch(request)
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
    })
  }
}
