import type { Context } from 'hono'
import { isName, type Name } from '../../core/name.ts'
import { CRATES_FOLDER, releaseOfPath } from '../../core/paths/crates.ts'
import { configPath, INDEX_FOLDER, indexPath } from '../../core/paths/tree.ts'
import { releaseOfUpstreamPath, upstreamCratePath } from '../../core/paths/upstream.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { WantedVersion } from '../../core/upstream/line.ts'
import { isVersion } from '../../core/version.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'
import type { Spend } from '../../generator/upstream/refusal.ts'
import type { Upstream } from '../../generator/upstream/upstream.ts'
import { RateLimit } from '../access/rate-limits.ts'
import { get, type OpenHandler, type Route } from '../access/route.ts'
import { answerText } from '../http/answer.ts'
import { addressGroup, addressOf } from '../http/client-address.ts'
import { Slots } from '../http/slots.ts'
import type { StreamFromBucket } from './bucket-streams.ts'
import { answerHeld } from './file-answer.ts'
import { fileHeaders } from './file-headers.ts'
import { decodePath } from './public-files.ts'
import { crateAnswer, streamCrate } from './stored-crate.ts'

/** Half of these is for one client, and half of the connections to an upstream (`Connections`). */
const SLOTS = { running: 32, waiting: 4000, busy: 'upstream_busy' } as const

const headersOf = fileHeaders({})

/** An address without a hash may have other bytes one day: published anew, or here. */
const revalidated = (path: string, tag: string) => ({
  ...headersOf(path, tag),
  'cache-control': 'no-cache',
})

type Found = Promise<Response | null>

type Wanted = WantedVersion | Readonly<{ name: Name; version: null }>

/** Answers with files of upstreams: below `/upstream/NAME/`, and for names that are not here. */
export class UpstreamFiles {
  readonly #upstreams: Upstreams
  readonly #stream: StreamFromBucket
  readonly #lookups = new Slots(SLOTS)
  readonly #downloads = new Slots(SLOTS)
  readonly #addressOf: (c: Context) => string
  readonly #limits: readonly [each: RateLimit, all: RateLimit]
  readonly #now: () => Date

  constructor(
    { settings: { server, limits }, clock }: Pick<Registry, 'settings' | 'clock'>,
    upstreams: Upstreams,
    stream: StreamFromBucket,
  ) {
    const { upstream_per_minute: perMinute } = limits
    this.#limits = [new RateLimit(perMinute), new RateLimit(10 * perMinute)]
    this.#now = clock
    this.#upstreams = upstreams
    this.#stream = stream
    this.#addressOf = addressOf(server)
  }

  /** Returns what counts the requests to upstreams that a client causes: for it, and for all. */
  readonly spend = (c: Context): Spend => {
    const client = addressGroup(this.#addressOf(c))
    const [each, all] = this.#limits
    return tokens => {
      const now = this.#now()
      // A client that is refused takes nothing from the budget of all.
      if (tokens === 1) return each.take(client, now).wait || all.take('', now).wait
      return Math.max(each.owe(client, tokens, now), all.owe('', tokens, now))
    }
  }

  /** Returns the routes below `/upstream/NAME/`; `missing` answers what an upstream does not have. */
  routes(missing: OpenHandler): Route[] {
    return [...this.#upstreams.byName.values()].flatMap(upstream => {
      const at = `/upstream/${upstream.name}`
      const config = (c: Context) => answerText(c, upstream.config(), 'application/json')
      const file = (wantedIn: (path: string) => Wanted | null): OpenHandler => {
        return async c => {
          const wanted = wantedIn(c.req.path.slice(at.length))
          return (wanted && (await this.#answer(upstream, wanted, c))) ?? missing(c)
        }
      }
      const byChecksum = (path: string) => releaseOfUpstreamPath(decodePath(path) ?? '')
      return [
        get(`${at}/${configPath}`, 'reader', config),
        get(`${at}/${INDEX_FOLDER}/*`, 'reader', file(indexFileIn)),
        get(`${at}/${CRATES_FOLDER}/:file{[^/]+\\.crate}`, 'reader', file(byChecksum)),
        get(`${at}/${CRATES_FOLDER}/:name/:version/download`, 'reader', file(crateFileIn)),
      ]
    })
  }

  /**
   * Answers for a crate that is not here, by a redirect to the upstream with a fallback, or with
   * its files; null without one. Own names, and those below reserved prefixes, never go there.
   */
  readonly fallback = async (c: Context): Found => {
    const upstream = this.#upstreams.usual
    if (!upstream || upstream.settings.fallback === 'off') return null
    const wanted = indexFileIn(c.req.path) ?? crateFileIn(c.req.path)
    if (!wanted || (await upstream.isOwnName(wanted.name))) return null
    if (upstream.settings.fallback === 'serve') return this.#answer(upstream, wanted, c)
    const { files, index } = upstream.source
    if (wanted.version === null) return redirectTo(index.address(wanted.name))
    const spend = this.spend(c)
    const line = () => upstream.line(wanted, spend)
    const address = await this.#withSlot(this.#lookups, c, () => files.address(wanted, line, spend))
    return address === null ? null : redirectTo(address)
  }

  /**
   * Asks an upstream when it is the turn of this request. Those of one client leave half of the
   * places free, because anybody can make up names that no upstream has.
   */
  async #withSlot<T>(slots: Slots, c: Context, ask: () => Promise<T>): Promise<T> {
    const slot = slots.admit(addressGroup(this.#addressOf(c)))
    try {
      await slot.start(c.req.raw.signal)
      return await ask()
    } finally {
      slot.leave()
    }
  }

  #answer(upstream: Upstream, wanted: Wanted, c: Context): Found {
    if (wanted.version === null) return this.#indexFile(upstream, wanted.name, c)
    return this.#crateFile(upstream, wanted, c)
  }

  async #indexFile(upstream: Upstream, name: Name, c: Context): Found {
    const find = () => upstream.indexFile(name, this.spend(c))
    const answer = await (upstream.isFresh(name) ? find() : this.#withSlot(this.#lookups, c, find))
    if (!answer) return null
    const { file, staleSince } = answer
    const since = staleSince ? timestamp(new Date(staleSince)) : 'the start'
    const warning = `110 - "the upstream has not confirmed this since ${since}"`
    const headers = (path: string, tag: string) => ({
      ...headersOf(path, tag),
      ...(staleSince !== null && { warning }),
    })
    return answerHeld(indexPath(name), { ...file, gzip: file.zipped }, headers, c.req)
  }

  async #crateFile(upstream: Upstream, wanted: WantedVersion, c: Context): Found {
    const crate =
      (await upstream.keptCrateFile(wanted)) ??
      (await this.#withSlot(this.#downloads, c, () =>
        upstream.crateFile(wanted, false, this.spend(c)),
      ))
    if (!crate) return null
    const path = upstreamCratePath(crate)
    const answer = crateAnswer(c, path, crate, wanted.cksum === null ? revalidated : headersOf)
    const { store } = upstream.source.files
    return streamCrate(c, this.#stream, answer, part => store.open(path, part))
  }
}

function indexFileIn(path: string): Wanted | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isName(name) && path === `/${indexPath(name)}` ? { name, version: null } : null
}

/** Reads a path of the tree, or one that Cargo makes of a `dl` without markers. */
function crateFileIn(path: string): Wanted | null {
  const decoded = decodePath(path) ?? ''
  const [, name = '', version = ''] = /^crates\/([^/]+)\/([^/]+)\/download$/.exec(decoded) ?? []
  const release = isName(name) && isVersion(version) ? { name, version } : releaseOfPath(decoded)
  return release && { ...release, cksum: null }
}

/** Caches must ask again: the name may be published here. */
function redirectTo(location: string): Response {
  return new Response(null, { status: 307, headers: { location, 'cache-control': 'no-cache' } })
}
