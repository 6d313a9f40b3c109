import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { ANY_VERSION } from '../../core/upstream/crate.ts'
import { stateOf } from '../../core/upstream/explain.ts'
import { isVersion } from '../../core/version.ts'
import { acceptVersion, listAlarms } from '../../generator/upstream/alarms.ts'
import { allowVersion } from '../../generator/upstream/allowed.ts'
import type { Upstream } from '../../generator/upstream/upstream.ts'
import { type UpstreamData, upstreamPage, upstreamsPage } from '../../site/account/upstream-page.ts'
import { get, type Route, type SessionHandler, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { toFolder } from '../files/file-headers.ts'
import { page, redirect } from '../http/page.ts'
import { isOwnName } from '../upstream/own-name.ts'
import { attempt, type Deed, noticeOf, viewerOf } from './notice.ts'

/** The most alarms and versions on a page. */
const ALARMS = 50
const VERSIONS = 100

/** Returns the routes of the pages about upstreams, for readers. */
export function upstreamPages(deps: Deps): Route[] {
  const { registry, upstreams } = deps
  const names = [...upstreams.byName.keys()]
  if (names.length === 0) return []
  const pages = Array.from(upstreams.byName, ([name, upstream]) => [
    get(
      `/upstream/${name}`,
      'reader',
      (c: Context) => new Response(null, toFolder(c.req.path, c.req.url)),
    ),
    get(
      `/upstream/${name}/`,
      'reader',
      (c: Context) => show(deps, upstream, c, askedFor(c)),
      'read',
    ),
  ])
  const list = get('/upstream/', 'reader', (c: Context) =>
    names.length === 1
      ? redirect(c, registry.site, `/upstream/${names[0]}/`)
      : page(c, registry.site, upstreamsPage(registry.site, names)),
  )
  return [list, ...pages.flat()]
}

/** `GET /me/admin/upstream/{name}?crate=…`: the same with what administrators decide. */
export function upstreamAdmin(deps: Deps): SessionHandler {
  return (c, request) => {
    const more = { viewer: viewerOf(request), notice: noticeOf(c) }
    return show(deps, upstreamOf(deps, c), c, { ...askedFor(c), ...more })
  }
}

const DEEDS = new Map<string, Deed>([
  ['allow', 'version-allowed'],
  ['hold', 'version-held'],
  ['accept', 'change-accepted'],
])

/** `POST /me/admin/upstream/{name}/{action}`: allows, holds again or accepts a version. */
export function postUpstream(deps: Deps): SessionHandler {
  return (c, request) => {
    const upstream = upstreamOf(deps, c)
    const crate = request.form.get('crate') ?? ''
    const work = async () => {
      const done = DEEDS.get(c.req.param('action') ?? '') ?? refuse('route_unknown')
      await decide(deps, upstream, done, request)
      deps.upstreams.decisions.forget()
      const query = new URLSearchParams({ crate, done })
      return redirect(c, deps.registry.site, `/me/admin/upstream/${upstream.name}?${query}`)
    }
    return attempt(c, work, refused =>
      show(deps, upstream, c, { crate: '', viewer: viewerOf(request), ...refused }),
    )
  }
}

async function decide(
  { registry: { database } }: Deps,
  upstream: Upstream,
  deed: Deed,
  { form, change }: SessionRequest,
): Promise<void> {
  const name = parseName(form.get('crate') ?? '')
  const version = form.get('version') ?? ''
  if (deed === 'change-accepted' && version === ANY_VERSION) {
    await acceptVersion(database, change, upstream, { name, version: null })
    return
  }
  if (!isVersion(version))
    return refuse('upstream_crate_unknown', { spec: `${name}@${version}`, upstream: upstream.name })
  if (deed === 'change-accepted') await acceptVersion(database, change, upstream, { name, version })
  else {
    const which = { upstream: upstream.name, name, version }
    await allowVersion(database, change, which, deed === 'version-allowed')
  }
}

type Asked = Pick<UpstreamData, 'crate'> &
  Partial<Pick<UpstreamData, 'viewer' | 'notice'>> & { readonly status?: ContentfulStatusCode }

/** Shows the page of an upstream; a crate that it cannot tell of is a notice on it. */
function show(deps: Deps, upstream: Upstream, c: Context, asked: Asked): Promise<Response> {
  const { site } = deps.registry
  const { settings, source } = upstream
  const render = async (found: Versions, { status, ...wanted }: Asked) => {
    const { answered, failure, hits, misses, bytes } = source.counts
    const data = {
      ...{ viewer: null, notice: null, settings, failure, counts: { hits, misses, bytes } },
      answered: answered === null ? null : timestamp(new Date(answered)),
      alarms: await listAlarms(source.place, ALARMS),
      most: ALARMS,
    }
    return page(c, site, upstreamPage(site, { ...data, ...wanted, ...found }), status)
  }
  const work = async () => render(await versionsOf(deps, upstream, asked.crate), asked)
  return attempt(c, work, refused => render(NO_VERSIONS, { ...asked, ...refused }))
}

type Versions = Pick<UpstreamData, 'versions' | 'total'>

const NO_VERSIONS: Versions = { versions: [], total: 0 }

/** Returns the newest versions of a crate. No upstream is asked for a name that is for crates here. */
async function versionsOf(
  { registry, upstreams }: Deps,
  upstream: Upstream,
  crate: string,
): Promise<Versions> {
  if (crate === '') return NO_VERSIONS
  const name = parseName(crate)
  if (await isOwnName(registry, name)) refuse('upstream_name_own', { name })
  const found = await upstream.explain(name)
  if (!found) return refuse('upstream_crate_unknown', { spec: name, upstream: upstream.name })
  const allowed = await upstreams.decisions.allowed(upstream.name)
  const versions = found.slice(-VERSIONS).map(each => ({
    ...stateOf(upstream.settings, each),
    allowed: allowed.has(name, each.line.version),
  }))
  return { versions: versions.reverse(), total: found.length }
}

function askedFor(c: Context): { readonly crate: string } {
  return { crate: c.req.query('crate')?.trim() ?? '' }
}

function upstreamOf({ upstreams }: Deps, c: Context): Upstream {
  return upstreams.byName.get(c.req.param('name') ?? '') ?? refuse('route_unknown')
}
