import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'
import type { LoggedRequest } from './request-log.ts'
import { RequestLog } from './request-log.ts'

/** The validator that the server sends: hosts differ, and Cargo copes with each. */
export type Validator = 'etag' | 'last-modified'

/**
 * A dumb file server: paths below one folder, 404 for the rest; with a `token`, 401 for everybody
 * else. It knows nothing of registries.
 */
export class FileServer {
  readonly requests = new RequestLog()
  readonly url: string
  readonly #root: string
  readonly #validator: Validator
  readonly #token: string | null

  private constructor(root: string, validator: Validator, url: string, token: string | null) {
    this.#root = root
    this.#validator = validator
    this.url = url
    this.#token = token
  }

  static async start(
    cleanup: Cleanup,
    root: string,
    validator: Validator = 'etag',
    token: string | null = null,
  ): Promise<FileServer> {
    const server = createServer()
    const files = new FileServer(root, validator, await listen(server), token)
    cleanup.add(() => closeServer(server))
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const logged = files.requests.add(request.method ?? '', request.url ?? '', request.headers)
      files.#answer(logged, response).catch((failure: Error) => response.destroy(failure))
    })
    return files
  }

  async #answer(request: LoggedRequest, response: ServerResponse): Promise<void> {
    const end = (
      status: number,
      headers: Record<string, string | number> = {},
      body: Buffer | string = '',
    ): void => {
      request.status = status
      request.responseHeaders = headers
      response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(405)
    if (this.#token !== null && request.headers.authorization !== this.#token)
      return end(401, { 'www-authenticate': `Cargo login_url="${this.url}/me"` })
    const file = await this.#find(request.url)
    if (!file) return end(404, { 'content-type': 'text/html' }, '<h1>404 Not Found</h1>')
    const { validator } = file
    const condition = this.#validator === 'etag' ? 'if-none-match' : 'if-modified-since'
    const value = Object.values(validator)[0]
    if (value !== undefined && request.headers[condition] === value) return end(304, validator)
    end(200, { 'content-length': file.bytes.length, ...validator }, file.bytes)
  }

  async #find(
    url: string,
  ): Promise<{ bytes: Buffer; validator: Record<string, string> } | undefined> {
    const path = decodeURIComponent(url.replace(/\?.*/s, ''))
    if (path.split('/').includes('..') || path.includes('\0')) return undefined
    const file = join(this.#root, path.endsWith('/') ? `${path}index.html` : path)
    const stats = await stat(file).catch((failure: NodeJS.ErrnoException) => {
      if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return undefined
      throw failure
    })
    if (!stats?.isFile()) return undefined
    return { bytes: await readFile(file), validator: this.#validatorOf(stats) }
  }

  #validatorOf({ mtime, mtimeMs, size }: Stats): Record<string, string> {
    if (this.#validator === 'last-modified') return { 'last-modified': mtime.toUTCString() }
    return { etag: `"${mtimeMs.toString(16)}-${size.toString(16)}"` }
  }
}
