import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { ANY_VERSION } from '../../core/upstream/crate.ts'
import { stateOf } from '../../core/upstream/explain.ts'
import { parseVersion } from '../../core/version.ts'
import { acceptVersion, listAlarms } from '../../generator/upstream/alarms.ts'
import { isOwnName } from '../../generator/upstream/own-name.ts'
import type { Upstream } from '../../generator/upstream/upstream.ts'
import {
  ALARMS_SHOWN,
  type UpstreamData,
  type UpstreamVersion,
  upstreamPage,
  upstreamsPage,
} from '../../site/account/upstream-page.ts'
import { get, type Route, type SessionHandler } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page, redirect } from '../http/page.ts'
import { attempt, noticeOf, viewerOf } from './notice.ts'

/** Returns the routes of the pages about upstreams, for readers. */
export function upstreamPages(deps: Deps): Route[] {
  const { registry, upstreams } = deps
  const all = [...upstreams.byName.values()]
  if (all.length === 0) return []
  const list = () => upstreamsPage(registry.site, [...upstreams.byName.keys()])
  return [
    get('/upstream/', 'reader', (c: Context) => page(c, registry.site, list())),
    ...all.map(upstream => {
      const handle = (c: Context) => show(deps, upstream, c, { viewer: null, notice: null })
      return get(`/upstream/${upstream.name}/`, 'reader', handle, 'read')
    }),
  ]
}

/** `GET /me/admin/upstream/{name}?crate=…`: the same with what administrators decide. */
export function upstreamAdmin(deps: Deps): SessionHandler {
  return (c, request) =>
    show(deps, upstreamOf(deps, c), c, { viewer: viewerOf(request), notice: noticeOf(c) })
}

/** `POST /me/admin/upstream/{name}/{action}`: allows, holds again or accepts a version. */
export function postUpstream(deps: Deps): SessionHandler {
  const { registry, upstreams } = deps
  return (c, request) => {
    const upstream = upstreamOf(deps, c)
    const { form, change } = request
    const work = async () => {
      const name = parseName(form.get('crate') ?? '')
      const text = form.get('version') ?? ''
      const version = text === ANY_VERSION ? null : parseVersion(text)
      const action = c.req.param('action') ?? ''
      if (action === 'accept')
        await acceptVersion(registry.database, change, upstream, { name, version })
      else if (version !== null && /^(?:allow|hold)$/.test(action)) {
        const decided = { upstream: upstream.name, name, version }
        await upstreams.decisions.decide(change, decided, action === 'allow')
      } else refuse('route_unknown')
      const query = new URLSearchParams({ crate: name, done: `upstream-${action}` })
      return redirect(c, registry.site, `/me/admin/upstream/${upstream.name}?${query}`)
    }
    return attempt(c, work, refused =>
      show(deps, upstream, c, { viewer: viewerOf(request), ...refused }),
    )
  }
}

/** Shows the page of an upstream; a crate that it cannot tell of is a notice on it. */
function show(deps: Deps, upstream: Upstream, c: Context, outcome: Outcome): Promise<Response> {
  const { settings, source } = upstream
  const { site } = deps.registry
  const crate = c.req.query('crate')?.trim() ?? ''
  const render = async (versions: UpstreamVersion[], { status, ...shown }: Outcome) => {
    const alarms = await listAlarms(source.place, ALARMS_SHOWN)
    const data = { settings, counts: source.counts, alarms, crate, versions, ...shown }
    return page(c, site, upstreamPage(site, data), status)
  }
  const work = async () => render(await versionsOf(deps, upstream, crate), outcome)
  return attempt(c, work, refused => render([], { ...outcome, ...refused }))
}

type Outcome = Pick<UpstreamData, 'viewer' | 'notice'> & { readonly status?: ContentfulStatusCode }

/** Returns the versions of a crate. No upstream is asked for a name that is for crates here. */
async function versionsOf(
  { registry, upstreams }: Deps,
  upstream: Upstream,
  crate: string,
): Promise<UpstreamVersion[]> {
  if (crate === '') return []
  const name = parseName(crate)
  if (await isOwnName(registry, name)) refuse('upstream_name_own', { name })
  const found = await upstream.explain(name)
  if (!found) return refuse('upstream_crate_unknown', { spec: name, upstream: upstream.name })
  const isAllowed = await upstreams.decisions.allowed(upstream.name)
  return found.map(version => ({
    ...stateOf(upstream.settings, version),
    allowed: isAllowed(name, version.line.version),
  }))
}

function upstreamOf({ upstreams }: Deps, c: Context): Upstream {
  return upstreams.byName.get(c.req.param('name') ?? '') ?? refuse('route_unknown')
}
