// daemon/files/git-http: Serves the git index to git. app.ts calls it; it never takes a push.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ReadableStream } from 'node:stream/web'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from 'hono'
import { issue, Refusal, refuse } from '../../../core/error/error.ts'
import { readHead } from '../../../generator/git/index-repository/bare-repository.ts'
import { UploadPack } from '../../../generator/git/index-repository/git-process.ts'
import { recordRefusal } from '../../http/answer.ts'
import { addressGroup, clientAddress } from '../../http/client-address.ts'
import { readWhole } from '../../http/request-body.ts'
import { Slots } from '../../http/slots.ts'
import { webStream } from '../web-stream.ts'

const DEFAULTS = {
  gitCommand: 'git',
  /** Returns the client address, for its share of the slots; by default the remote address. */
  addressOf: clientAddress([]),
  /** Running `git upload-pack` processes; `maxWaiting` more requests wait, others are refused. */
  maxConcurrent: 4,
  maxWaiting: 60,
  timeoutMs: 600_000,
  bodyTimeoutMs: 30_000,
  /** The largest request body, decompressed; git's cumulative commit list stays below 1 MB. */
  maxBodyBytes: 2 * 1024 * 1024,
  onFailure: (_error: unknown): void => undefined,
}

type Limits = typeof DEFAULTS & { readonly repositoryPath: string }
export type GitHttpOptions = Partial<typeof DEFAULTS> & { readonly repositoryPath: string }

const REQUEST = 'application/x-git-upload-pack-request'

/** The headers that `git http-backend` sends: refs move, so caches must revalidate. */
const FRESH = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
}

const TEXT = 'text/plain; charset=utf-8'

/** The files that dumb clients read, besides `info/refs`. */
const FILES = [
  [/^(HEAD|objects\/info\/packs)$/, TEXT],
  [/^objects\/pack\/pack-[0-9a-f]{40}\.pack$/, 'application/x-git-packed-objects'],
  [/^objects\/pack\/pack-[0-9a-f]{40}\.idx$/, 'application/x-git-packed-objects-toc'],
  [/^objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/, 'application/x-git-loose-object'],
] as const

/** What clients are told as it is; anything else is for the operator. */
const TOLD = /^(?:git_(?:service_refused|request_\w+|busy)|body_lost)$/

/**
 * Creates the handler of all requests under `/index.git/`. It serves the index repository
 * read-only, over smart HTTP (protocols 0 to 2) and as the files that dumb clients read. No part of
 * a request reaches a command line.
 */
export function gitHttp(options: GitHttpOptions): (c: Context) => Promise<Response> {
  const limits = { ...DEFAULTS, ...options }
  const { maxConcurrent: running, maxWaiting: waiting } = limits
  const slots = new Slots({ running, waiting, busy: 'git_busy' })
  const advertisement = cacheAdvertisements(limits)
  return async c => {
    const name = c.req.path.slice('/index.git/'.length)
    try {
      if (c.req.method === 'POST') {
        if (name === 'git-upload-pack') return await answer(c, limits, slots)
        return name === 'git-receive-pack' ? refuse('git_service_refused') : missing(c)
      }
      if (name === 'info/refs') return await refs(c, limits, advertisement)
      const type = FILES.find(([pattern]) => pattern.test(name))?.[1]
      return type ? await file(c, limits, name, type) : missing(c)
    } catch (error) {
      return failure(error, c, limits)
    }
  }
}

async function refs(c: Context, limits: Limits, advertisement: Advertise): Promise<Response> {
  const service = c.req.query('service')
  if (service === undefined) return file(c, limits, 'info/refs', TEXT)
  if (service !== 'git-upload-pack') refuse('git_service_refused')
  const body = await advertisement(protocolOf(c)).catch(unlessGitIsMissing)
  // git can then use the plain files (gitprotocol-http, "Dumb Clients"); Cargo's library cannot.
  if (body === null && /^git\/\d[^(]*$/.test(c.req.header('user-agent') ?? ''))
    return file(c, limits, 'info/refs', TEXT)
  return c.body(body ?? missingGit(), 200, {
    ...FRESH,
    'Content-Type': 'application/x-git-upload-pack-advertisement',
  })
}

const missing = (c: Context) => c.text('not found\n', 404, FRESH)

/** `POST git-upload-pack`: starts git once the body is complete: a slow sender holds no process. */
async function answer(c: Context, limits: Limits, slots: Slots): Promise<Response> {
  if (c.req.header('content-type') !== REQUEST) refuse('git_request_type', { expected: REQUEST })
  const { signal } = c.req.raw
  const late = new AbortController()
  const slot = slots.admit(addressGroup(limits.addressOf(c)), () => late.abort())
  try {
    const input = await readBody(c, limits, late.signal)
    await slot.start(signal)
    const git = new UploadPack({ ...limits, protocol: protocolOf(c), advertise: false, input })
    return new Response(await running(git, signal, limits, slot.leave), {
      headers: { ...FRESH, 'Content-Type': 'application/x-git-upload-pack-result' },
    })
  } catch (error) {
    slot.leave()
    throw error
  }
}

async function readBody(
  c: Context,
  { maxBodyBytes: max, bodyTimeoutMs }: Limits,
  late: AbortSignal,
) {
  const encoding = c.req.header('content-encoding') ?? 'identity'
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding)) refuse('git_request_encoding')
  const body = await readWhole(c.req.raw, max, bodyTimeoutMs / 1000, late).catch(error => {
    if (late.aborted) refuse('git_busy')
    if (error instanceof Refusal && error.has('body_slow')) refuse('git_request_slow')
    throw error
  })
  if (body === null) return refuse('git_request_too_large', { max })
  if (encoding === 'identity') return body
  return promisify(gunzip)(body, { maxOutputLength: max }).catch(error => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') refuse('git_request_too_large', { max })
    throw new Refusal([issue('git_request_encoding')], { cause: error })
  })
}

/** Returns git's output as a body. Throws a failure before the first byte; later ones abort it. */
async function running(
  git: UploadPack,
  signal: AbortSignal,
  limits: Limits,
  leave: () => void,
): Promise<ReadableStream> {
  const stop = (): void => git.stop()
  const timer = setTimeout(stop, limits.timeoutMs)
  signal.addEventListener('abort', stop)
  const end = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    leave()
  }
  if (signal.aborted) stop()
  const output = git.output()
  const first = await output.next().catch(error => {
    end()
    throw isClients(error) ? new Refusal([issue('git_request_bad')], { cause: error }) : error
  })
  // git reported the error to the client in its own protocol (gitprotocol-pack, ERR); aborting
  // would lose the message.
  const refused = !first.done && Buffer.from(first.value.subarray(4, 8)).toString() === 'ERR '
  let next: Promise<IteratorResult<Uint8Array>> | null = Promise.resolve(first)
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await (next ?? output.next())
        next = null
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        if (refused) controller.close()
        else {
          if (!signal.aborted) limits.onFailure(error)
          controller.error(error)
        }
      }
      end()
    },
    async cancel() {
      git.stop()
      end()
      await output.return(undefined).catch(() => undefined)
    },
  })
}

/** Returns whether the client's data made git fail: `die` in upload-pack, serve or pkt-line. */
function isClients(error: unknown): boolean {
  return /protocol error|bad line length|invalid (?:packet|command)|unknown (?:capability|object)|no command|expected|hung up/.test(
    error instanceof Refusal && error.has('git_failed') ? error.message : '',
  )
}

function unlessGitIsMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT' || !error.syscall?.startsWith('spawn')) throw error
  return null
}

/** Returns an advertisement with an error message for the user (gitprotocol-pack, ERR). */
function missingGit(): Buffer<ArrayBuffer> {
  const packet = (text: string) =>
    `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
  const sentence = issue('git_upload_pack_missing').message
  return Buffer.from(`${packet('# service=git-upload-pack\n')}0000${packet(`ERR ${sentence}\n`)}`)
}

/** Serves a file of the repository; `name` must be `info/refs` or match one of `FILES`. */
async function file(c: Context, limits: Limits, name: string, type: string): Promise<Response> {
  const handle = await open(join(limits.repositoryPath, name)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    },
  )
  if (!handle) return missing(c)
  const { size } = await handle.stat()
  const headers = { ...FRESH, 'Content-Type': type, 'Content-Length': String(size) }
  // Hono answers HEAD through GET and drops the body, which would leave the file open.
  if (c.req.method !== 'HEAD' && size > 0) {
    return new Response(webStream(handle.createReadStream({ end: size - 1 })), { headers })
  }
  await handle.close()
  return new Response(null, { headers })
}

/** Returns the version that a client requests in `Git-Protocol: version=N`; ignores other keys. */
function protocolOf(c: Context): Protocol {
  const [, asked] = /(?:^|:)version=([12])(?=:|$)/.exec(c.req.header('git-protocol') ?? '') ?? []
  return Number(asked ?? 0) as Protocol
}

/** Answers with plain text, because git shows it to its user line by line. */
function failure(error: unknown, c: Context, limits: Limits): Response {
  const isTold = error instanceof Refusal && TOLD.test(error.issues[0].code)
  const told = isTold ? error : new Refusal([issue('git_server_failed')])
  // A client that disconnected gets no answer, and is no failure.
  if (c.req.raw.signal.aborted) return c.text('', 500, FRESH)
  if (!isTold) limits.onFailure(error)
  return c.text(`${told.message}\n`, recordRefusal(c, told), FRESH)
}

type Protocol = 0 | 1 | 2
type Advertise = (protocol: Protocol) => Promise<Buffer<ArrayBuffer>>

/** Caches the refs advertisements while HEAD stays the same: most fetches need nothing else. */
function cacheAdvertisements(limits: Limits): Advertise {
  type Kept = { head: string | null; since: number; body: ReturnType<Advertise> }
  const cache = new Map<Protocol, Kept>()
  return async protocol => {
    const head = await readHead(limits.repositoryPath)
    const kept = cache.get(protocol)
    // Expires after a minute, because an operator may have changed other refs by hand.
    if (kept && kept.head === head && Math.abs(Date.now() - kept.since) < 60_000)
      return await kept.body
    const body = advertise(protocol, limits)
    cache.set(protocol, { head, since: Date.now(), body })
    return await body.catch(error => {
      cache.delete(protocol)
      throw error
    })
  }
}

async function advertise(protocol: Protocol, { repositoryPath, gitCommand }: Limits) {
  const input = new Uint8Array()
  const git = new UploadPack({ repositoryPath, gitCommand, protocol, advertise: true, input })
  const timer = setTimeout(() => git.stop(), 30_000)
  // Only protocols 0 and 1 have the service line (gitprotocol-http; gitprotocol-v2 "HTTP
  // Transport").
  const chunks: Uint8Array[] =
    protocol === 2 ? [] : [Buffer.from('001e# service=git-upload-pack\n0000')]
  try {
    for await (const chunk of git.output()) chunks.push(chunk)
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks)
}
