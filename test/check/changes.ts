import { gunzipSync } from 'node:zlib'
import type { Reply } from '../support/recording-proxy.ts'
import type { LoggedRequest } from '../support/request-log.ts'

export type Json = Record<string, unknown>
/** Changes right answers in place, so that the registry is wrong in one way. */
export type Switch = (reply: Reply, asked: LoggedRequest) => unknown

export const CONFIG = /\/index\/config\.json$/
export const INDEX = /\/index\/(?!config)/
export const CRATE = /\.crate$/
export const SEARCH = /\/api\/v1\/crates\?/
export const NEW = /crates\/new$/
export const YANK = /\/yank$/
export const OWNERS = /\/owners$/
export const GIT = /info\/refs/
/** A name that no crate has. */
export const MISSING = /zq[0-9a-f]{10}/
export const GOOD = { status: 200, body: Buffer.from('{"ok":true}') }

/** Changes an answer; another body has no encoding. */
export const on =
  (path: RegExp, change: Partial<Reply> | Switch): Switch =>
  (reply, asked) => {
    if (!path.test(asked.url)) return
    const changes = typeof change === 'function' ? change(reply, asked) : change
    const { 'content-encoding': _, ...headers } = reply.headers
    Object.assign(reply, Object(changes).body && { headers }, changes)
  }
/** The text of a body, without its encoding. */
export const plain = ({ headers, body }: Reply): string =>
  String(headers['content-encoding'] === 'gzip' && body.length > 0 ? gunzipSync(body) : body)
export const status = (path: RegExp, to: number, ...from: readonly number[]): Switch =>
  on(path, reply => ({ status: from.includes(reply.status) || !from[0] ? to : reply.status }))
export const header = (path: RegExp, name: string, value?: string): Switch =>
  on(path, ({ headers: { [name]: _, ...headers } }) => ({
    headers: value === undefined ? headers : { ...headers, [name]: value },
  }))
/** Where a request has a header of a form. */
export const where =
  (path: RegExp, name: string, form: RegExp, change: Partial<Reply> | Switch): Switch =>
  (reply, asked) =>
    form.test(String(asked.headers[name] ?? '')) && on(path, change)(reply, asked)
export const text = (path: RegExp, change: (text: string, host?: string) => string): Switch =>
  on(path, (reply, asked) => ({ body: Buffer.from(change(plain(reply), asked.headers.host)) }))
export const json = (path: RegExp, change: (value: Json) => unknown): Switch =>
  text(path, before => JSON.stringify(change(JSON.parse(before))))
export const set = (key: string, value: unknown): Switch =>
  json(CONFIG, config => ({ ...config, [key]: value }))
export const line = (key: string, value: unknown, path = INDEX): Switch =>
  text(path, file =>
    file.replaceAll(/^\{.*\}$/gm, each => JSON.stringify({ ...JSON.parse(each), [key]: value })),
  )
export const dep = (key: string, value: unknown): Switch =>
  text(INDEX, (file, host) =>
    file.replaceAll(/^\{.*\}$/gm, each => {
      const { deps, ...rest } = JSON.parse(each) as { deps: Json[] }
      const put = typeof value === 'function' ? value(host) : value
      return JSON.stringify({ ...rest, deps: deps.map(all => ({ ...all, [key]: put })) })
    }),
  )
/** Changes in several ways. */
export const all =
  (...parts: readonly Switch[]): Switch =>
  (reply, asked) =>
    parts.forEach(part => void part(reply, asked))
