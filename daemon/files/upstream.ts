import type { Context } from 'hono'
import { isName, type Name } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { configPath, INDEX_FOLDER, indexPath } from '../../core/paths/tree.ts'
import { releaseOfUpstreamFile, upstreamCratePath } from '../../core/paths/upstream.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { isVersion, type Version } from '../../core/version.ts'
import { FEED_LENGTH, renderFeed } from '../../generator/projections/feed.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { listAlarms } from '../../generator/upstream/alarms.ts'
import type { Turn } from '../../generator/upstream/crate-files.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'
import { isOwnName } from '../../generator/upstream/own-name.ts'
import type { ShownIndexFile, Upstream } from '../../generator/upstream/upstream.ts'
import { alarmEntries } from '../../site/account/upstream-page.ts'
import { account } from '../../site/elements/links.ts'
import { get, type OpenHandler, type Route } from '../access/route.ts'
import { addressGroup, addressOf } from '../http/client-address.ts'
import { Slots } from '../http/slots.ts'
import type { BucketStreams } from './bucket-streams.ts'
import { type Asked, acceptsGzip, choose, variantOf } from './file-answer.ts'
import { tagOf } from './file-cache.ts'
import { type FileHeaders, fileHeaders } from './file-headers.ts'
import type { Part } from './file-part.ts'
import { decodePath } from './public-files.ts'

/** Half of these is for one client, and half of the connections to an upstream (`Connections`). */
const TURNS = { running: 32, waiting: 4000, busy: 'upstream_busy' } as const

/**
 * Limits how many requests ask upstreams at a time. Those of one client leave half of the places
 * free, because anybody can make up names that no upstream has.
 */
export function upstreamTurns(server: Settings['server']): (c: Context) => Turn {
  const [slots, address] = [new Slots(TURNS), addressOf(server)]
  return c => async ask => {
    const slot = slots.admit(addressGroup(address(c)))
    try {
      await slot.start(c.req.raw.signal)
      return await ask()
    } finally {
      slot.leave()
    }
  }
}

/** What answers of upstreams are made with. */
export interface UpstreamDeps {
  readonly registry: Registry
  readonly upstreams: Upstreams
  readonly streams: BucketStreams
  readonly turnOf: (c: Context) => Turn
  /** Answers what an upstream does not have. */
  readonly missing: OpenHandler
}

type AskDeps = Omit<UpstreamDeps, 'missing'>

const headersOf: FileHeaders = fileHeaders({})

/** Returns the routes below `/upstream/NAME/`. */
export function upstreamRoutes(deps: UpstreamDeps): Route[] {
  const { registry, upstreams, missing } = deps
  const { urls, authRequired, site } = registry
  const answer =
    (find: (c: Context) => Promise<Response | null> | null): OpenHandler =>
    async c =>
      (await find(c)) ?? missing(c)
  const routesOf = (upstream: Upstream): Route[] => {
    const at = `/upstream/${upstream.name}`
    const config = textOf(Buffer.from(upstream.config(urls.base, authRequired)))
    const indexFile = answer(c => {
      const name = nameOfIndexPath(c.req.path.slice(at.length))
      return name && indexAnswer(deps, upstream, name, c)
    })
    const crateFile = answer(c => {
      const release = releaseOfUpstreamFile(decodePath(c.req.path)?.split('/').at(-1) ?? '')
      return release && crateAnswer(deps, upstream, release, c)
    })
    const download = answer(c => {
      const release = releaseOfDownload(c.req.path.slice(at.length))
      return release && crateAnswer(deps, upstream, { ...release, cksum: null }, c)
    })
    const feed = async (c: Context) => {
      const newest = (await listAlarms(upstream.source.place)).slice(-FEED_LENGTH.crates).reverse()
      const [path, page] = [account.upstreamFeed(upstream.name), account.upstream(upstream.name)]
      const subject = `Alarms of ${upstream.name}`
      const { bytes } = renderFeed(site, path, subject, page, alarmEntries(upstream.name, newest))
      return textAnswer(path, textOf(bytes), c)
    }
    return [
      get(`/${account.upstreamFeed(upstream.name)}`, 'reader', feed, 'read'),
      get(`${at}/${configPath}`, 'reader', (c: Context) => textAnswer(configPath, config, c)),
      get(`${at}/${INDEX_FOLDER}/*`, 'reader', indexFile),
      get(`${at}/${CRATES_FOLDER}/:file{[^/]+\\.crate}`, 'reader', crateFile),
      get(`${at}/${CRATES_FOLDER}/:name/:version/download`, 'reader', download),
    ]
  }
  return [...upstreams.byName.values()].flatMap(routesOf)
}

/**
 * Returns what answers for crates that are not here, by redirects to the upstream or with its
 * files; null without a fallback. Own names, and those below reserved prefixes, never go there.
 */
export function fallback(deps: AskDeps): ((c: Context) => Promise<Response | null>) | null {
  const { registry, upstreams, turnOf } = deps
  const upstream = upstreams.fallback
  if (!upstream) return null
  const redirects = upstream.settings.fallback === 'redirect'
  return async c => {
    const path = c.req.path
    const indexed = nameOfIndexPath(path)
    const release = indexed === null ? releaseOfCratePath(path) : null
    const name = indexed ?? release?.name
    if (name === undefined || (await isOwnName(registry, name))) return null
    if (indexed !== null)
      return redirects
        ? redirectTo(upstream.source.index.address(name))
        : indexAnswer(deps, upstream, name, c)
    if (!release) return null
    if (!redirects) return crateAnswer(deps, upstream, { ...release, cksum: null }, c)
    const line = () => upstream.line(release.name, release.version, null, turnOf(c))
    const address = await upstream.source.files.address(release, line)
    return address === null ? null : redirectTo(address)
  }
}

async function indexAnswer(
  { turnOf }: AskDeps,
  upstream: Upstream,
  name: Name,
  c: Context,
): Promise<Response | null> {
  const find = () => upstream.indexFile(name)
  const found = await (upstream.isFresh(name) ? find() : turnOf(c)(find))
  if (!found) return null
  const { file, staleSince } = found
  const response = textAnswer(indexPath(name), file, c)
  if (staleSince !== null) {
    const since = staleSince === 0 ? 'the start' : timestamp(new Date(staleSince))
    response.headers.set('warning', `110 - "the upstream is away; not confirmed since ${since}"`)
  }
  return response
}

function textAnswer(path: string, file: TextFile, c: Context): Response {
  const isZipped = file.zipped !== null && acceptsGzip(c.req.header('accept-encoding'))
  const [bytes, tag, encoding] = isZipped
    ? [file.zipped, `${file.tag}-gz`, { 'content-encoding': 'gzip' }]
    : [file.bytes, file.tag, {}]
  const headers = { ...headersOf(path, tag), vary: 'accept-encoding' }
  const variant = variantOf<Part>(path, headers, bytes, encoding)
  const { body, ...answer } = choose(variant, file.tag, askedBy(c))
  return new Response(Buffer.isBuffer(body) ? new Uint8Array(body) : null, answer)
}

type TextFile = Pick<ShownIndexFile, 'bytes' | 'tag'> & { readonly zipped: Buffer | null }

function textOf(bytes: Buffer): TextFile {
  return { bytes, tag: tagOf(bytes), zipped: null }
}

async function crateAnswer(
  { streams, turnOf }: AskDeps,
  upstream: Upstream,
  release: { readonly name: Name; readonly version: Version; readonly cksum: string | null },
  c: Context,
): Promise<Response | null> {
  const { name, version, cksum } = release
  const found = await upstream.crateFile(name, version, cksum, { turn: turnOf(c) })
  if (!found) return null
  const { file, size } = found
  const path = upstreamCratePath(file)
  const tag = file.cksum.slice(0, 32)
  // An address without the hash may have other bytes one day: published anew, or here.
  const caching = cksum === null && { 'cache-control': 'no-cache' }
  const headers = { ...headersOf(path, tag), ...caching, 'accept-ranges': 'bytes' }
  const whole: Part = { start: 0, end: size - 1 }
  const { body, ...answer } = choose(variantOf(path, headers, whole), tag, askedBy(c))
  if (body === null || Buffer.isBuffer(body)) return new Response(null, answer)
  const { start, end } = body
  return streams.answer(c, async () => {
    const range = answer.status === 206 ? { start, end } : undefined
    const opened = await upstream.source.files.store.open(path, range)
    return opened && { bytes: opened.bytes, size: end - start + 1, answer }
  })
}

/** Returns the crate of a path `/index/…`; null for any other path. */
function nameOfIndexPath(path: string): Name | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isName(name) && path === `/${indexPath(name)}` ? name : null
}

/** Returns the release of a path that `dl` templates have; null for any other path. */
function releaseOfCratePath(path: string): { name: Name; version: Version } | null {
  return releaseOfPath(decodePath(path) ?? '') ?? releaseOfDownload(path)
}

function releaseOfDownload(path: string): { name: Name; version: Version } | null {
  const decoded = decodePath(path) ?? ''
  const [, name = '', version = ''] = /^crates\/([^/]+)\/([^/]+)\/download$/.exec(decoded) ?? []
  return isName(name) && isVersion(version) ? { name, version } : null
}

/** Caches must ask again: the name may be published here. */
function redirectTo(location: string): Response {
  return new Response(null, { status: 307, headers: { location, 'cache-control': 'no-cache' } })
}

function askedBy(c: Context): Asked {
  return { method: c.req.method, header: name => c.req.header(name) }
}
