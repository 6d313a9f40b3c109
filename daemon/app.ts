import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import { configPlace, type Issue, issue, Refusal, type Registry, refuse } from '../generator/index.ts'
import { authenticate, hasScope, tokenOf } from './auth.ts'
import { crate as showCrate } from './crates/crate.ts'
import { dependencies } from './crates/dependencies.ts'
import { readme } from './crates/readme.ts'
import { reverseDependencies } from './crates/reverse-dependencies.ts'
import { authors, crateDownloads, versionDownloads } from './crates/uncounted.ts'
import { version, versions } from './crates/versions.ts'
import { download } from './crates.ts'
import { failureBody, refused, unexpected } from './failure.ts'
import { mePage } from './me.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { deleteOwners, owners, putOwners } from './owners.ts'
import { fileRequest, PublicFiles } from './public-files.ts'
import { publish } from './publish.ts'
import { readiness } from './readiness.ts'
import type { Regenerator } from './regenerate.ts'
import { requestLog } from './request-log.ts'
import type { OpenHandler, Route } from './route.ts'
import { search } from './search.ts'
import { summary } from './summary.ts'
import { setYanked } from './yank.ts'

/** What the daemon works with; nothing else reads the clock or opens a store. */
export interface Deps {
  readonly registry: Registry
  readonly regenerator: Regenerator
  readonly clock: () => Date
  readonly log: Logger
  readonly metrics: Metrics
}

/** The whole web API, in the order in which paths are matched. */
function routes(deps: Deps, files: PublicFiles): Route[] {
  const { registry } = deps
  const { settings } = registry
  const crate = '/api/v1/crates/:name'
  return [
    { method: 'GET', path: '/healthz', access: 'open', handle: c => c.text('ok\n') },
    { method: 'GET', path: '/readyz', access: 'open', handle: readiness(registry) },
    { method: 'GET', path: '/metrics', access: 'reader', handle: () => deps.metrics.page() },
    { method: 'GET', path: '/me', access: 'open', handle: mePage(registry) },
    { method: 'PUT', path: '/api/v1/crates/new', access: ['publish-new', 'publish-update'], handle: publish(deps) },
    { method: 'DELETE', path: `${crate}/:version/yank`, access: ['yank'], handle: setYanked(deps, true) },
    { method: 'PUT', path: `${crate}/:version/unyank`, access: ['yank'], handle: setYanked(deps, false) },
    {
      method: 'GET',
      path: `${crate}/owners`,
      access: settings.owners.public ? 'reader' : 'member',
      handle: owners(deps),
    },
    { method: 'PUT', path: `${crate}/owners`, access: ['change-owners'], handle: putOwners(deps) },
    { method: 'DELETE', path: `${crate}/owners`, access: ['change-owners'], handle: deleteOwners(deps) },
    { method: 'GET', path: '/api/v1/crates', access: 'reader', handle: search(registry) },
    { method: 'GET', path: '/api/v1/summary', access: 'reader', handle: summary(registry) },
    { method: 'GET', path: crate, access: 'reader', handle: showCrate(registry) },
    { method: 'GET', path: `${crate}/versions`, access: 'reader', handle: versions(registry) },
    { method: 'GET', path: `${crate}/reverse_dependencies`, access: 'reader', handle: reverseDependencies(registry) },
    { method: 'GET', path: `${crate}/downloads`, access: 'reader', handle: crateDownloads(registry) },
    { method: 'GET', path: `${crate}/:version`, access: 'reader', handle: version(registry) },
    { method: 'GET', path: `${crate}/:version/dependencies`, access: 'reader', handle: dependencies(registry) },
    { method: 'GET', path: `${crate}/:version/downloads`, access: 'reader', handle: versionDownloads(registry) },
    { method: 'GET', path: `${crate}/:version/authors`, access: 'reader', handle: authors(registry) },
    { method: 'GET', path: `${crate}/:version/readme`, access: 'reader', handle: readme(registry) },
    { method: 'GET', path: `${crate}/:version/download`, access: 'reader', handle: download(registry, files) },
    {
      method: 'GET',
      path: '/api/openapi.json',
      access: 'reader',
      handle: openApi(registry, () => routes(deps, files)),
    },
    ...downloadRoutes(deps, files),
    { method: 'GET', path: '/*', access: 'reader', handle: publicFile(files) },
  ]
}

/** The daemon as one Hono app. */
export function createApp(deps: Deps): Hono {
  const files = new PublicFiles(deps.registry.tree.root)
  const app = new Hono({ getPath: request => rawPath(request.url) })
  app.use(requestLog(deps.log))
  app.use(deps.metrics.middleware)
  for (const route of routes(deps, files)) app.on(route.method, route.path, c => enter(deps, route, c))
  app.notFound(() => refuse('route_unknown'))
  app.onError((error, c) => {
    if (!(error instanceof Refusal)) deps.metrics.failed(['unexpected'])
    else deps.metrics.failed(error.issues.map(one => one.code))
    if (error instanceof Refusal) return refused(c, error, deps.registry.settings.api.error_status)
    return unexpected(c, error, deps.log)
  })
  return app
}

/** Lets a request through to its handler, as the access of the route has it. */
async function enter(deps: Deps, route: Route, c: Context): Promise<Response> {
  const { registry } = deps
  if (route.access === 'open') return route.handle(c)
  const token = tokenOf(c.req.header('authorization'))
  const me = `${registry.urls.base}/me`
  if (route.access === 'reader') {
    if (!registry.settings.auth.required) return route.handle(c)
    const actor = token && (await authenticate(registry.database, token, deps.clock()))
    if (!actor) return challenge(c, issue(token ? 'token_rejected' : 'token_absent', { me }), me)
    // Every call of Cargo begins with config.json, also when its token is good for publishing only.
    if (!hasScope(actor, 'read') && c.req.path !== `/${configPlace.path}`) refuse('scope_missing', { scope: 'read' })
    return route.handle(c)
  }
  if (!token) return refuse('token_absent', { me })
  const actor = await authenticate(registry.database, token, deps.clock())
  if (!actor) return refuse('token_rejected', { me })
  if (route.access === 'member') return route.handle(c)
  if (!route.access.some(scope => hasScope(actor, scope))) refuse('scope_missing', { scope: route.access.join(' or ') })
  return route.handle(c, actor)
}

/** 401 with the challenge that makes Cargo send its token, or ask for one (RFC 3231, Cargo's `login_url`). */
function challenge(c: Context, why: Issue, me: string): Response {
  const headers = { 'www-authenticate': `Cargo login_url="${me}"`, 'cache-control': 'no-store' }
  return c.json(failureBody([why]), 401, headers)
}

/** Any file of the public tree. */
function publicFile(files: PublicFiles): OpenHandler {
  return c => files.serve(c.req.path, fileRequest(c)) ?? refuse('route_unknown')
}

/** Where a `dl` without markers leads, when that is here: `{dl}/{crate}/{version}/download`. */
function downloadRoutes(deps: Deps, files: PublicFiles): Route[] {
  const { dl, base } = deps.registry.urls
  if (dl.includes('{') || !dl.startsWith(`${base}/`)) return []
  const path = `${dl.slice(base.length).replace(/\/+$/, '')}/:name/:version/download`
  return [{ method: 'GET', path, access: 'reader', handle: download(deps.registry, files) }]
}

/**
 * The path of a request as sent, still percent-encoded: a `+` means itself. Slashes at the front are one, because an
 * `api` written with a slash at its end makes Cargo ask for `//api/v1/…`.
 */
function rawPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const path = url.slice(start).replace(/[?#].*$/s, '')
  return path.replace(/^\/{2,}/, '/')
}
