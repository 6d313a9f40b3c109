import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { renderEntry } from '../../core/entry/render.ts'
import { canonicalName, type Name, prefix } from '../../core/name.ts'
import { inspectCrate } from '../../core/release/inspect.ts'
import { publishMetadata } from '../../core/release/metadata.ts'
import { sha256 } from '../../core/sha256.ts'
import { type Version, versionIdentity } from '../../core/version.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { buildCrate, type CrateParts } from '../support/crate-builder.ts'
import { closeServer, listen } from '../support/loopback.ts'

export type Json = Record<string, unknown>

/** An answer that a switch may change. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface Asked {
  readonly method: string
  /** As it was sent, with its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What is wrong with the server. Each part changes something right in place, or returns another. */
export interface Switch {
  readonly isPrivate?: boolean
  /** Whether the index is read as a repository. */
  readonly isGit?: boolean
  readonly config?: (config: Json) => unknown
  readonly line?: (line: Json) => unknown
  /** The text of `config.json` or of the file of a crate. */
  readonly text?: (text: string, path: string) => string
  readonly reply?: (reply: Reply, asked: Asked) => unknown
  /** Whether a reason against a publish counts for nothing. */
  readonly takes?: (reason: string) => boolean
  /** Changes the record of something published. */
  readonly publish?: (line: Json) => unknown
  readonly bytes?: (bytes: Uint8Array) => Uint8Array
  /** Whether an accepted change has no effect. */
  readonly ignores?: (asked: Asked) => boolean
  /** The name of the target, where it is another than the address. */
  readonly name?: string
}

export const TOKEN = 'the-token'
const OWNER = { id: 1, login: 'sailor', name: 'The Sailor' }
const LIMITS = {
  unpackedBytes: 2 ** 22,
  entries: 999,
  manifestBytes: 2 ** 20,
  readmeBytes: 2 ** 20,
}

const NAMED = `[dependencies]
other = { package = "base", version = "1", registry-index = "HERE", optional = true, features = ["one"] }
[dev-dependencies]
base = { version = "1", registry-index = "HERE" }
[target.'cfg(unix)'.build-dependencies]
base = { version = ">=1, <2", registry-index = "HERE", default-features = false }
[features]
plain = []
strong = ["dep:other"]
`
const PACKAGES: readonly CrateParts[] = [
  ...['a', 'ab', 'abc', 'MixedCase'].map(name => ({ name, version: '1.0.0' })),
  ...['0.9.0', '1.0.0', '1.1.0+b.2'].map(version => ({
    name: 'base',
    version,
    manifest: '[features]\none = []\n',
  })),
  { name: 'rich', version: '2.0.0', manifest: `links = "sea"\nrust-version = "1.60"\n${NAMED}` },
  ...Array.from({ length: 30 }, (_, at) => ({ name: 'many', version: `1.${at}.0` })),
]

/** A registry that is right, but for its switch. */
export class MadeUpRegistry {
  readonly url: string
  wrong: Switch = {}
  #lines = new Map<string, Json[]>()
  #start = new Map<string, Json[]>()
  #bytes = new Map<string, Uint8Array>()

  private constructor(url: string) {
    this.url = url
  }

  static async start(cleanup: Cleanup): Promise<MadeUpRegistry> {
    const server: Server = createServer({ keepAliveTimeout: 60_000 })
    const registry = new MadeUpRegistry(await listen(server))
    cleanup.add(() => closeServer(server))
    server.on('request', async (request, response) => {
      const { method = '', url: path = '', headers } = request
      const body = await buffer(request).catch(() => null)
      // A client that broke off has published nothing.
      if (body === null) return
      const {
        status,
        headers: sent,
        body: bytes,
      } = await registry.#reply({ method, path, headers, body })
      response.writeHead(status, sent).end(bytes)
    })
    return registry
  }

  get index(): string {
    return `sparse+${this.url}/index/`
  }

  /** Forgets everything, and is wrong as `wrong` says. */
  async reset(wrong: Switch = {}): Promise<void> {
    this.wrong = wrong
    if (this.#start.size === 0) {
      for (const parts of PACKAGES) {
        const manifest = parts.manifest?.replaceAll('HERE', this.index)
        await this.#add(buildCrate({ ...parts, ...(manifest && { manifest }) }))
      }
      Object.assign(this.#lines.get('base')?.[0] ?? {}, { yanked: true })
      this.#start = this.#lines
    }
    this.#lines = structuredClone(this.#start)
  }

  /** Adds a `.crate`, whose faults are the reasons against it. */
  async #add(
    bytes: Uint8Array,
    metadata?: v.InferOutput<typeof publishMetadata>,
  ): Promise<string[]> {
    const open = async function* () {
      yield bytes
    }
    const own = new Set([this.index])
    const parts = { cksum: sha256(bytes), size: bytes.length, pubtime: '2026-11-20T12:00:00Z' }
    const { release, issues } = await inspectCrate(open, {
      ...parts,
      ownIndexUrls: own,
      metadata,
      limits: LIMITS,
    })
    const reasons = issues
      .filter(({ severity }) => severity === 'error')
      .map(({ code }) => code as string)
    const name = release?.name ?? ''
    const lines = this.#lines.get(name.toLowerCase()) ?? []
    const identity = (version: string) => versionIdentity(version as Version)
    if (lines.some(({ vers }) => identity(String(vers)) === identity(release?.version ?? '')))
      reasons.push('version_taken')
    const known = [...this.#lines.values()].map(([line]) => String(line?.name))
    if (known.some(other => other !== name && canonicalName(other) === canonicalName(name)))
      reasons.push('name_taken')
    const left = reasons.filter(reason => !this.wrong.takes?.(reason))
    if (left.length > 0) return left
    const line = release
      ? (JSON.parse(renderEntry(release.entry)) as Json)
      : {
          name: metadata?.name,
          vers: metadata?.vers,
          deps: [],
          cksum: parts.cksum,
          features: {},
          yanked: false,
        }
    const key = String(line.name).toLowerCase()
    this.#lines.set(key, [...(this.#lines.get(key) ?? []), line])
    this.#bytes.set(`${line.name}/${line.vers}`, bytes)
    if (metadata) this.wrong.publish?.(line)
    return []
  }

  async #reply(asked: Asked): Promise<Reply> {
    const reply: Reply = { status: 200, headers: {}, body: Buffer.alloc(0) }
    await this.#route(reply, asked)
    this.wrong.reply?.(reply, asked)
    return reply
  }

  async #route(reply: Reply, asked: Asked): Promise<void> {
    const { path, headers } = asked
    const isKnown = headers.authorization === TOKEN
    if (this.wrong.isPrivate && !isKnown && path !== '/me') {
      const isApi = path.startsWith('/api/')
      refuse(reply, isApi ? 403 : 401, 'no token')
      reply.headers['www-authenticate'] = `Cargo login_url="${this.url}/me"`
    } else if (path.startsWith('/index.git/')) {
      reply.headers['content-type'] = 'application/x-git-upload-pack-advertisement'
      const id = '0'.repeat(40)
      reply.body = Buffer.from(
        `001e# service=git-upload-pack\n0000003f${id} HEAD\0 symref=HEAD:refs/heads/main\n0000`,
      )
    } else if (path.startsWith('/index/')) this.#index(reply, asked)
    else if (path.startsWith('/dl/')) this.#download(reply, path)
    else if (path === '/me') reply.body = Buffer.from('a page')
    else await this.#api(reply, asked)
  }

  #index(reply: Reply, { path, headers }: Asked): void {
    const text = this.#text(path.slice('/index/'.length))
    if (text === null) {
      reply.status = 404
      return
    }
    const etag = `"${sha256(text).slice(0, 20)}"`
    const base = { etag, vary: 'Accept-Encoding', 'access-control-allow-origin': '*' }
    Object.assign(reply.headers, base, {
      'content-type': 'text/plain',
      'cache-control': 'max-age=1',
    })
    if (headers['if-none-match'] === etag) reply.status = 304
    else if (/gzip/.test(String(headers['accept-encoding']))) {
      reply.headers['content-encoding'] = 'gzip'
      reply.body = gzipSync(text)
    } else reply.body = Buffer.from(text)
  }

  #text(path: string): string | null {
    const { url, wrong } = this
    const edit = (text: string) => wrong.text?.(text, path) ?? text
    if (path === 'config.json') {
      const config: Json = {
        dl: `${url.replace('127.0.0.1', 'localhost')}/dl/{crate}/{version}`,
        api: url,
      }
      if (wrong.isPrivate) config['auth-required'] = true
      wrong.config?.(config)
      return edit(JSON.stringify(config))
    }
    const name = path.replace(/.*\//, '')
    const lines = this.#lines.get(name)
    if (!lines || path !== `${prefix(name as Name)}/${name}`) return null
    const texts = lines.map(line => {
      const copy = structuredClone(line)
      wrong.line?.(copy)
      return `${JSON.stringify(copy)}\n`
    })
    return edit(texts.join(''))
  }

  #download(reply: Reply, path: string): void {
    const bytes = this.#bytes.get(path.slice('/dl/'.length))
    if (!bytes) reply.status = 404
    else reply.body = Buffer.from(this.wrong.bytes?.(bytes) ?? bytes)
    if (bytes)
      reply.headers = {
        'content-length': `${reply.body.length}`,
        'access-control-allow-origin': '*',
      }
  }

  async #api(reply: Reply, asked: Asked): Promise<void> {
    const { method, path } = asked
    const { pathname, searchParams } = new URL(path, this.url)
    const [name = '', ...rest] = pathname.replace('/api/v1/crates', '').slice(1).split('/')
    if (method === 'GET' && pathname === '/api/v1/crates') this.#search(reply, searchParams)
    else await this.#change(reply, asked, name, rest)
  }

  async #change(reply: Reply, asked: Asked, name: string, rest: readonly string[]): Promise<void> {
    const { method, headers, body } = asked
    const action = rest.at(-1) ?? ''
    const isRoute = /^(?:owners|yank|unyank)$/.test(action) || (method === 'PUT' && name === 'new')
    if (!isRoute) return refuse(reply, 404, 'no such route')
    if (headers.authorization !== TOKEN && !this.wrong.takes?.('token'))
      return refuse(reply, 403, 'the token is not valid')
    if (name === 'new') return this.#publish(reply, asked)
    const lines = this.#lines.get(name.toLowerCase())
    if (!lines) return refuse(reply, 404, `there is no ${name}`)
    if (action === 'owners') return this.#owners(reply, method, String(body))
    const line = lines.find(({ vers }) => vers === decodeURIComponent(rest[0] ?? ''))
    if (!line) return refuse(reply, 404, `there is no ${rest[0]}`)
    if (!this.wrong.ignores?.(asked)) line.yanked = action === 'yank'
    answer(reply, { ok: true })
  }

  #owners(reply: Reply, method: string, body: string): void {
    const { users } = (method === 'GET' ? {} : JSON.parse(body)) as { users?: string[] }
    const strange = users?.find(user => user !== OWNER.login)
    if (!users) answer(reply, { users: [OWNER] })
    else if (strange !== undefined) refuse(reply, 200, `there is no user ${strange}`)
    else if (method === 'DELETE') refuse(reply, 200, 'the last owner stays')
    else answer(reply, { ok: true, msg: 'is an owner already' })
  }

  #search(reply: Reply, query: URLSearchParams): void {
    const words = (query.get('q') ?? '').toLowerCase().split(/[ +]/)
    const found = [...this.#lines.values()]
      .map(lines => ({
        name: String(lines[0]?.name),
        max_version: lines.at(-1)?.vers,
        description: 'x',
      }))
      .filter(({ name }) => words.every(word => name.toLowerCase().includes(word)))
      .sort((a, b) => a.name.length - b.name.length)
    const crates = found.slice(0, Number(query.get('per_page') ?? 10))
    answer(reply, { crates, meta: { total: found.length } })
  }

  async #publish(reply: Reply, { body }: Asked): Promise<void> {
    const reasons = await this.#publishBody(body)
    if (reasons.length > 0) return refuse(reply, 200, ...reasons)
    const lists = { invalid_categories: [], invalid_badges: [], other: [] }
    answer(reply, { warnings: lists })
  }

  async #publishBody(body: Buffer): Promise<string[]> {
    const length = body.length < 4 ? Number.NaN : body.readUInt32LE(0)
    const rest = body.subarray(4 + length)
    const isWhole = rest.length >= 4 && rest.readUInt32LE(0) === rest.length - 4
    const text = v.pipe(v.string(), v.parseJson(), publishMetadata)
    const parsed = v.safeParse(text, body.subarray(4, 4 + length).toString())
    const reasons = [...(isWhole ? [] : ['frame']), ...(parsed.success ? [] : ['metadata'])].filter(
      reason => !this.wrong.takes?.(reason),
    )
    if (reasons.length > 0 || !parsed.success) return reasons
    return this.#add(rest.subarray(4), parsed.output)
  }
}

function answer(reply: Reply, value: unknown): void {
  reply.headers['content-type'] = 'application/json'
  reply.body = Buffer.from(JSON.stringify(value))
}

function refuse(reply: Reply, status: number, ...reasons: readonly string[]): void {
  reply.status = status
  answer(reply, { errors: reasons.map(detail => ({ detail })) })
}
