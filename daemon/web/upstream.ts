import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { ANY_VERSION } from '../../core/upstream/crate.ts'
import { specOf, type VersionState } from '../../core/upstream/explain.ts'
import { parseVersion } from '../../core/version.ts'
import { FEED_LENGTH, renderFeed } from '../../generator/projections/feed.ts'
import { acceptVersion, listAlarms } from '../../generator/upstream/alarms.ts'
import { decideVersion } from '../../generator/upstream/decisions.ts'
import { FREE, type Spend } from '../../generator/upstream/refusal.ts'
import type { Upstream } from '../../generator/upstream/upstream.ts'
import {
  ALARMS_SHOWN,
  alarmEntries,
  type UpstreamData,
  upstreamPage,
  upstreamsPage,
} from '../../site/account/upstream-page.ts'
import { account } from '../../site/elements/links.ts'
import { get, type Route } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { answerText } from '../http/answer.ts'
import { page } from '../http/page.ts'
import { type Action, attempt, noticeOf, type Outcome, type Task, viewerOf } from './notice.ts'

/** Returns the routes of the pages about upstreams and the feeds of their alarms, for readers. */
export function upstreamPages(deps: Deps, spend: (c: Context) => Spend): Route[] {
  const { site } = deps.registry
  const { byName } = deps.upstreams
  if (byName.size === 0) return []
  const list = (c: Context) => page(c, site, upstreamsPage(site, [...byName.keys()]))
  const routes = [...byName.values()].flatMap(upstream => {
    const reader = { viewer: null, notice: null }
    const [path, feed] = [account.upstream(upstream.name), account.upstreamFeed(upstream.name)]
    return [
      get(`/${path}`, 'reader', (c: Context) => show(deps, upstream, c, reader, spend(c)), 'read'),
      get(`/${feed}`, 'reader', (c: Context) => alarmFeed(deps, upstream, c), 'read'),
    ]
  })
  return [get(`/${account.upstreams}`, 'reader', list), ...routes]
}

async function alarmFeed(deps: Deps, { name, source }: Upstream, c: Context): Promise<Response> {
  const newest = (await listAlarms(source.place)).slice(-FEED_LENGTH.crates).reverse()
  const [path, page] = [account.upstreamFeed(name), account.upstream(name)]
  const entries = alarmEntries(name, newest)
  const feed = renderFeed(deps.registry.site, path, `Alarms of ${name}`, page, entries)
  return answerText(c, feed.bytes.toString(), feed.contentType)
}

/** `GET /me/admin/upstream/{name}?crate=…`: the same with what administrators decide. */
export const upstreamAdmin = (task: Task) =>
  showAdmin(task, { notice: noticeOf(task.c, task.registry) })

function showAdmin(task: Task, shown: Outcome<Pick<UpstreamData, 'notice'>>) {
  const reader = { viewer: viewerOf(task.request), notice: null }
  return show(task, upstreamOf(task), task.c, { ...reader, ...shown })
}

/** `/me/admin/upstream/{name}/{action}?crate=…&version=…`: allows, holds again or accepts. */
export const versionDecision: Action = {
  ask(task) {
    const { name: upstream } = upstreamOf(task)
    const crate = parseName(task.c.req.query('crate') ?? '')
    const version = versionOf(task.c.req.query('version')) ?? ANY_VERSION
    const names = [specOf({ name: crate, version })]
    const back = account.upstreamAdmin(upstream)
    return {
      about: actionOf(task.c),
      names,
      back,
      fields: { crate, version },
      query: `?crate=${crate}`,
    }
  },
  async act(task) {
    const { database } = task.registry
    const { form, change } = task.request
    const upstream = upstreamOf(task)
    const name = parseName(form.get('crate') ?? '')
    const version = versionOf(form.get('version'))
    const action = actionOf(task.c)
    if (action === 'accept') await acceptVersion(database, change, upstream, { name, version })
    else if (version === null) refuse('route_unknown')
    else {
      const decided = { upstream: upstream.name, name, version }
      await decideVersion(database, change, decided, action === 'allow')
    }
    const spec = specOf({ name, version: version ?? ANY_VERSION })
    const path = `/${account.upstreamAdmin(upstream.name)}?crate=${name}`
    return [path, `upstream-${action}`, spec]
  },
  show: showAdmin,
}

/** Shows the page of an upstream; a crate that it cannot tell of is a notice on it. */
function show(
  deps: Deps,
  upstream: Upstream,
  c: Context,
  outcome: Shown,
  spend = FREE,
): Promise<Response> {
  const { settings, source, unmatched } = upstream
  const { site } = deps.registry
  const crate = c.req.query('crate')?.trim() ?? ''
  const render = async (versions: VersionState[], { status, ...shown }: Shown) => {
    const alarms = await listAlarms(source.place, ALARMS_SHOWN)
    const { counts } = source
    const data = { settings, unmatched, counts, alarms, crate, versions, ...shown }
    return page(c, site, upstreamPage(site, data), status)
  }
  const work = async () => render(await versionsOf(upstream, crate, spend), outcome)
  return attempt(c, work, refused => render([], { ...outcome, ...refused }))
}

type Shown = Pick<UpstreamData, 'viewer' | 'notice'> & Outcome<object>

/** Returns the versions of a crate. No upstream is asked for a name that is for crates here. */
async function versionsOf(
  upstream: Upstream,
  crate: string,
  spend: Spend,
): Promise<VersionState[]> {
  if (crate === '') return []
  const name = parseName(crate)
  if (await upstream.isOwnName(name)) refuse('upstream_name_own', { name })
  const explanation = await upstream.explain(name, false, spend)
  return explanation ?? refuse('upstream_crate_unknown', { spec: name, upstream: upstream.name })
}

/** Returns a version; null for a form about a name, whatever its versions. */
function versionOf(text: string | null = null) {
  return text === ANY_VERSION ? null : parseVersion(text ?? '')
}

function actionOf(c: Context): 'allow' | 'hold' | 'accept' {
  const action = c.req.param('action')
  return action === 'allow' || action === 'hold' || action === 'accept'
    ? action
    : refuse('route_unknown')
}

function upstreamOf({ upstreams, c }: Task): Upstream {
  return upstreams.byName.get(c.req.param('name') ?? '') ?? refuse('route_unknown')
}
