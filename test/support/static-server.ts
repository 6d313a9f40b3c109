import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, normalize } from 'node:path'
import { contentSecurityPolicy } from '../../site/layout/layout.ts'
import { closeServer, listen } from './loopback.ts'

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css',
  js: 'text/javascript',
  svg: 'image/svg+xml',
  json: 'application/json',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
}

/**
 * A server of plain files, like hosts of static sites: `404.html` for missing files, and the strict
 * policy. It remembers its requests.
 */
export interface FileServer {
  readonly url: string
  readonly requests: string[]
  close(): Promise<void>
}

/**
 * Serves a folder, or files in memory by their paths, below a path (`/sub`), on a free port.
 * `packages` are other origins of packages; `headers` come with every answer.
 */
export async function serveFiles(
  files: string | ReadonlyMap<string, Uint8Array>,
  below = '',
  packages: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<FileServer> {
  const read = async (path: string): Promise<Uint8Array> => {
    if (typeof files === 'string') return readFile(join(files, path))
    return files.get(path) ?? Promise.reject(new Error(`no file ${path}`))
  }
  const requests: string[] = []
  const policy = `${contentSecurityPolicy({ images: 'link', packages })}; frame-ancestors 'none'`
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname)
    requests.push(path)
    const inside = path.startsWith(`${below}/`) ? path.slice(below.length + 1) : '404.html'
    const file = normalize(inside === '' || inside.endsWith('/') ? `${inside}index.html` : inside)
    const send = (status: number, body: Uint8Array, name = file) => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
      const more = { 'content-type': type, 'content-security-policy': policy, ...headers }
      response.writeHead(status, more)
      response.end(body)
    }
    read(file).then(
      body => send(200, body),
      () => {
        const nothing = Buffer.from('not found')
        read('404.html').then(
          body => send(404, body, '404.html'),
          () => send(404, nothing, '.txt'),
        )
      },
    )
  })
  return { url: `${await listen(server)}${below}`, requests, close: () => closeServer(server) }
}
