import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal, readHead, refuse, UploadPack } from '../generator/index.ts'

export interface GitHttpOptions {
  readonly repositoryPath: string
  readonly gitCommand?: string
  /** Running `git upload-pack` processes; more clients wait, and beyond `maxWaiting` they are sent away. */
  readonly maxConcurrent?: number
  readonly maxWaiting?: number
  /** The longest a clone may take. */
  readonly timeoutMs?: number
  /** The longest a request body may take to arrive. */
  readonly bodyTimeoutMs?: number
  /** The largest request body, unpacked; git's own cumulated list of commits stays below 1 MB. */
  readonly maxBodyBytes?: number
  /** Told of every failure that is not the client's. */
  readonly onFailure?: (error: unknown) => void
}

type Protocol = 0 | 1 | 2
type Limits = Required<GitHttpOptions>

const REQUEST = 'application/x-git-upload-pack-request'

/** As `git http-backend` sends them: refs move, and caches must ask. */
const FRESH = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
}

/** The status of each objection made here. */
const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  git_service_refused: 403,
  git_request_type: 415,
  git_request_encoding: 400,
  git_request_too_large: 413,
  git_request_slow: 408,
  git_request_bad: 400,
  git_busy: 503,
}

/** The index repository for git clients, read-only: smart HTTP (protocols 0 to 2) and the files that dumb clients read. */
export function gitHttp(options: GitHttpOptions): Hono {
  const limits: Limits = {
    gitCommand: 'git',
    maxConcurrent: 4,
    maxWaiting: 60,
    timeoutMs: 600_000,
    bodyTimeoutMs: 30_000,
    maxBodyBytes: 2 * 1024 * 1024,
    onFailure: () => {},
    ...options,
  }
  const places = new Places(limits.maxConcurrent, limits.maxWaiting)
  const advertisements = new Advertisements(limits, places)
  const app = new Hono()
  app.get('/info/refs', async c => {
    const service = c.req.query('service')
    if (service === undefined) return await file(c, limits, 'info/refs', 'text/plain; charset=utf-8')
    if (service !== 'git-upload-pack') refuse('git_service_refused')
    const body = await advertisements.get(protocolOf(c))
    return c.body(body, 200, { ...FRESH, 'Content-Type': 'application/x-git-upload-pack-advertisement' })
  })
  app.post('/git-upload-pack', c => answer(c, limits, places))
  app.post('/git-receive-pack', () => refuse('git_service_refused'))
  app.get('/HEAD', c => file(c, limits, 'HEAD', 'text/plain; charset=utf-8'))
  app.get('/objects/info/packs', c => file(c, limits, 'objects/info/packs', 'text/plain; charset=utf-8'))
  app.get('/objects/pack/:name{pack-[0-9a-f]{40}\\.pack}', c =>
    file(c, limits, `objects/pack/${c.req.param('name')}`, 'application/x-git-packed-objects'),
  )
  app.get('/objects/pack/:name{pack-[0-9a-f]{40}\\.idx}', c =>
    file(c, limits, `objects/pack/${c.req.param('name')}`, 'application/x-git-packed-objects-toc'),
  )
  app.get('/objects/:folder{[0-9a-f]{2}}/:name{[0-9a-f]{38}}', c =>
    file(c, limits, `objects/${c.req.param('folder')}/${c.req.param('name')}`, 'application/x-git-loose-object'),
  )
  app.onError((error, c) => failure(error, c, limits))
  return app
}

/** `POST git-upload-pack`: the body is read whole before git starts, so a slow sender holds no process. */
async function answer(c: Context, limits: Limits, places: Places): Promise<Response> {
  if (c.req.header('content-type') !== REQUEST) refuse('git_request_type', { expected: REQUEST })
  const { signal } = c.req.raw
  const leave = await places.enter(signal, async () => {
    return await readBody(c, limits)
  })
  const git = new UploadPack({
    repositoryPath: limits.repositoryPath,
    gitCommand: limits.gitCommand,
    protocol: protocolOf(c),
    advertise: false,
    input: leave.value,
  })
  const stop = (): void => git.stop()
  const timer = setTimeout(stop, limits.timeoutMs)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const output = (async function* () {
    try {
      yield* git.output()
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      leave.release()
    }
  })()
  return c.body('')
}
