import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { parseName, prefix } from '../../core/name.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Cleanup } from './cleanup.ts'
import { buildCrate } from './crate-builder.ts'
import { closeServer, listen } from './loopback.ts'
import { RequestLog } from './request-log.ts'

/** A crate of the made-up upstream. */
export interface UpstreamRelease {
  readonly name: string
  readonly version?: string
  /** Names and requirements of crates of the same upstream. */
  readonly deps?: Readonly<Record<string, string>>
  readonly pubtime?: string
  readonly files?: Readonly<Record<string, string>>
}

/** What a request gets instead of its answer. */
export interface UpstreamFault {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Sends the head and this many bytes, and then nothing more or the end of the connection. */
  readonly stopsAfter?: number
  readonly hangsUp?: boolean
  /** Sends the rest after that. */
  readonly resumes?: Promise<unknown>
  /** Sends the body again and again. */
  readonly isEndless?: boolean
}

export interface MadeUpFile {
  readonly bytes: Buffer
  /** In milliseconds since 1970. */
  readonly changed: number
}

/** Another registry with a sparse index, for tests of upstreams: crates that Cargo can build. */
export class MadeUpUpstream {
  readonly requests = new RequestLog()
  /** The address of its index, with `sparse+`. */
  readonly index: string
  /** Where `dl` leads; may be moved. */
  dl: string
  /** Whether connections end without an answer. */
  isAway = false
  fault: (url: string) => UpstreamFault | null | undefined = () => null
  readonly #files = new Map<string, MadeUpFile>()
  readonly #url: string
  #clock = Date.UTC(2026, 0, 1)

  private constructor(url: string) {
    this.#url = url
    this.index = `sparse+${url}/index/`
    this.dl = `${url}/files/{crate}/{crate}-{version}.crate`
  }

  static async start(cleanup: Cleanup): Promise<MadeUpUpstream> {
    const server = createServer({ keepAliveTimeout: 60_000 })
    const upstream = new MadeUpUpstream(await listen(server))
    cleanup.add(() => closeServer(server))
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      upstream.#answer(request, response).catch((error: Error) => response.destroy(error))
    })
    return upstream
  }

  /** Adds a version, and returns its line. */
  publish({ name, version = '1.0.0', deps = {}, pubtime, files }: UpstreamRelease): string {
    const manifest = [
      '[dependencies]',
      ...Object.entries(deps).map(([d, req]) => `${d} = "${req}"`),
    ]
    const crate = buildCrate({
      name,
      version,
      manifest: manifest.join('\n'),
      files: { 'src/lib.rs': '', ...files },
    })
    const line = JSON.stringify({
      name,
      vers: version,
      deps: Object.entries(deps).map(([dep, req]) => ({
        ...{ name: dep, req, features: [], optional: false, default_features: true },
        ...{ target: null, kind: 'normal' },
      })),
      cksum: sha256(crate),
      features: {},
      yanked: false,
      ...(pubtime !== undefined && { pubtime }),
    })
    this.write(`/files/${name}/${name}-${version}.crate`, Buffer.from(crate))
    this.edit(name, lines => [...lines, line])
    return line
  }

  /** Changes the lines of a crate. */
  edit(name: string, change: (lines: string[]) => string[]): void {
    const path = this.pathOf(name)
    const before = this.#files.get(path)?.bytes.toString('utf8').split('\n').slice(0, -1) ?? []
    this.write(
      path,
      Buffer.from(
        change(before)
          .map(line => `${line}\n`)
          .join(''),
      ),
    )
  }

  yank(name: string, version: string): void {
    const isOf = (line: string) => JSON.parse(line).vers === version
    const yanked = (line: string) => line.replace('"yanked":false', '"yanked":true')
    this.edit(name, lines => lines.map(line => (isOf(line) ? yanked(line) : line)))
  }

  /** Writes a file at a path of the server; returns it, with when it was changed. */
  write(path: string, bytes: Buffer): MadeUpFile {
    this.#clock += 1000
    const file = { bytes, changed: this.#clock }
    this.#files.set(path, file)
    return file
  }

  remove(path: string): void {
    this.#files.delete(path)
  }

  /** Returns the path of a crate's index file. */
  pathOf(name: string): string {
    return `/index/${prefix(parseName(name.toLowerCase()))}/${name.toLowerCase()}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const logged = this.requests.add(method, url, headers)
    if (this.isAway) {
      response.destroy()
      return
    }
    const fault = this.fault(url)
    const config = { bytes: Buffer.from(JSON.stringify({ dl: this.dl })), changed: 0 }
    const content = url === '/index/config.json' ? config : this.#files.get(url)
    const etag = content && `"${sha256(content.bytes).slice(0, 32)}"`
    const validators = content && {
      etag: etag ?? '',
      'last-modified': new Date(content.changed).toUTCString(),
    }
    const isKnown = etag !== undefined && headers['if-none-match'] === etag && !fault
    const status = fault?.status ?? (isKnown ? 304 : content ? 200 : 404)
    const body = isKnown ? Buffer.alloc(0) : Buffer.from(fault?.body ?? content?.bytes ?? '')
    logged.status = status
    const isOpen = status === 304 || fault?.isEndless
    const length = isOpen ? {} : { 'content-length': body.length }
    response.writeHead(status, { ...validators, ...length, ...fault?.headers })
    if (fault?.isEndless) {
      const bodies = function* () {
        for (;;) yield body
      }
      await pipeline(bodies, response).catch(() => response.destroy())
      return
    }
    if (fault?.stopsAfter === undefined) {
      response.end(body)
      return
    }
    response.write(body.subarray(0, fault.stopsAfter))
    if (fault.hangsUp) setImmediate(() => response.destroy())
    await fault.resumes
    if (fault.resumes) response.end(body.subarray(fault.stopsAfter))
  }

  toString(): string {
    return this.#url
  }
}
