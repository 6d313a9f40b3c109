import { Hono } from 'hono'
import type { Logger } from 'pino'
import { gitIndexPath, Refusal, type Registry, refuse } from '../generator/index.ts'
import { AccessGuard } from './access/access-guard.ts'
import type { OpenHandler, Route } from './access/route.ts'
import { crate as showCrate } from './api/crates/crate.ts'
import { dependencies } from './api/crates/dependencies.ts'
import { download } from './api/crates/download.ts'
import { readme } from './api/crates/readme.ts'
import { reverseDependencies } from './api/crates/reverse-dependencies.ts'
import { authors, crateDownloads, versionDownloads } from './api/crates/uncounted.ts'
import { version, versions } from './api/crates/versions.ts'
import { openApi } from './api/openapi/openapi.ts'
import { deleteOwners, owners, putOwners } from './api/owners.ts'
import { publish } from './api/publish.ts'
import { search } from './api/search.ts'
import { summary } from './api/summary.ts'
import { setYanked } from './api/yank.ts'
import { assetFile } from './files/assets.ts'
import { fileRequest } from './files/file-request.ts'
import { gitHttp } from './files/git-http/git-http.ts'
import { PublicFiles } from './files/public-files.ts'
import { treeFile } from './files/tree-file.ts'
import { clientAddress } from './http/client-address.ts'
import { refused, unexpected } from './http/failure.ts'
import { pageHeaders } from './http/page.ts'
import { readToEnd } from './http/request-body.ts'
import { requestLog } from './http/request-log.ts'
import type { Metrics } from './metrics.ts'
import { readiness } from './readiness.ts'
import { meRoutes } from './web/routes.ts'
import { searchResults } from './web/search-page.ts'
import type { GitWorker } from './workers/git-worker.ts'
import type { IndexWorker } from './workers/index-worker.ts'

/** What the daemon works with; nothing else reads the clock or opens a store. */
export interface Deps {
  readonly registry: Registry
  readonly indexWorker: IndexWorker
  readonly clock: () => Date
  readonly log: Logger
  readonly metrics: Metrics
  /** Null for a registry without a git index. */
  readonly git: GitWorker | null
}

/** The whole web API, in the order in which paths are matched. */
export function routes(deps: Deps): Route[] {
  const { registry } = deps
  const { settings } = registry
  const files = new PublicFiles(registry.tree.root, {
    isPrivate: settings.auth.required,
    pageHeaders: pageHeaders(registry.site),
  })
  const crate = '/api/v1/crates/:name'
  return [
    { method: 'GET', path: '/healthz', access: 'open', handle: c => c.text('ok\n') },
    { method: 'GET', path: '/readyz', access: 'open', handle: readiness(deps) },
    { method: 'GET', path: '/metrics', access: 'reader', handle: () => deps.metrics.page() },
    ...meRoutes(deps),
    { method: 'GET', path: '/assets/*', access: 'open', handle: assetFile(files) },
    ...brandRoutes(registry, files),
    {
      method: 'PUT',
      path: '/api/v1/crates/new',
      access: ['publish-new', 'publish-update'],
      counts: 'publish',
      handle: publish(deps),
    },
    {
      method: 'DELETE',
      path: `${crate}/:version/yank`,
      access: ['yank'],
      counts: 'change',
      handle: setYanked(deps, true),
    },
    {
      method: 'PUT',
      path: `${crate}/:version/unyank`,
      access: ['yank'],
      counts: 'change',
      handle: setYanked(deps, false),
    },
    {
      method: 'GET',
      path: `${crate}/owners`,
      access: settings.owners.public ? 'reader' : 'member',
      handle: owners(deps),
    },
    {
      method: 'PUT',
      path: `${crate}/owners`,
      access: ['change-owners'],
      counts: 'change',
      handle: putOwners(deps),
    },
    {
      method: 'DELETE',
      path: `${crate}/owners`,
      access: ['change-owners'],
      counts: 'change',
      handle: deleteOwners(deps),
    },
    {
      method: 'GET',
      path: '/api/v1/crates',
      access: 'reader',
      counts: 'search',
      handle: search(registry),
    },
    { method: 'GET', path: '/api/v1/summary', access: 'reader', handle: summary(registry) },
    { method: 'GET', path: crate, access: 'reader', handle: showCrate(registry) },
    { method: 'GET', path: `${crate}/versions`, access: 'reader', handle: versions(registry) },
    {
      method: 'GET',
      path: `${crate}/reverse_dependencies`,
      access: 'reader',
      handle: reverseDependencies(registry),
    },
    {
      method: 'GET',
      path: `${crate}/downloads`,
      access: 'reader',
      handle: crateDownloads(registry),
    },
    { method: 'GET', path: `${crate}/:version`, access: 'reader', handle: version(registry) },
    {
      method: 'GET',
      path: `${crate}/:version/dependencies`,
      access: 'reader',
      handle: dependencies(registry),
    },
    {
      method: 'GET',
      path: `${crate}/:version/downloads`,
      access: 'reader',
      handle: versionDownloads(registry),
    },
    {
      method: 'GET',
      path: `${crate}/:version/authors`,
      access: 'reader',
      handle: authors(registry),
    },
    { method: 'GET', path: `${crate}/:version/readme`, access: 'reader', handle: readme(registry) },
    {
      method: 'GET',
      path: `${crate}/:version/download`,
      access: 'reader',
      handle: download(registry, files),
    },
    {
      method: 'GET',
      path: '/api/openapi.json',
      access: 'reader',
      handle: openApi(registry, () => routes(deps)),
    },
    ...downloadRoutes(registry, files),
    ...gitRoutes(deps),
    {
      method: 'GET',
      path: '/search/',
      access: 'reader',
      counts: 'search',
      handle: searchResults(registry),
    },
    { method: 'GET', path: '/*', access: 'reader', handle: treeFile(registry, files) },
  ]
}

/** The daemon as one Hono app. */
export function createApp(deps: Deps): Hono {
  const { log, metrics, registry } = deps
  const { limits, api } = registry.settings
  const app = new Hono({ getPath: request => rawPath(request.url) })
  // Reads are many: what would do nothing for them is not even asked.
  if (log.isLevelEnabled('debug')) app.get('/*', requestLog(log, 'debug'))
  const changing = ['PUT', 'DELETE', 'POST', 'PATCH']
  app.on(changing, '/*', requestLog(log, 'info'))
  app.on(
    changing,
    '/*',
    readToEnd({ bytes: limits.crate_bytes + 64 * 1024 ** 2, seconds: limits.request_seconds }),
  )
  app.use(metrics.middleware)
  const guard = new AccessGuard(deps)
  for (const route of routes(deps)) app.on(route.method, route.path, c => guard.enter(route, c))
  // A route and not `app.notFound`, whose refusals are thrown past what counts and logs.
  app.all('/*', () => refuse('route_unknown'))
  app.onError((error, c) => {
    if (error instanceof Refusal) return refused(c, error, api.error_status)
    return unexpected(c, error, log)
  })
  return app
}

/** The git index over smart HTTP, and as files for dumb clients; read-only. */
function gitRoutes(deps: Deps): Route[] {
  if (!deps.git) return []
  const onFailure = (error: unknown) =>
    deps.log.error({ err: error }, 'the git index could not be served')
  const addressOf = clientAddress(deps.registry.settings.server.trusted_proxies)
  const handle = gitHttp({ repositoryPath: gitIndexPath(deps.registry), addressOf, onFailure })
  return (['GET', 'POST'] as const).map(method => ({
    method,
    path: '/index.git/*',
    access: 'reader',
    handle,
  }))
}

/** The operator's own logo and stylesheet, which the form to log in shows to strangers, too. */
function brandRoutes({ settings }: Registry, files: PublicFiles): Route[] {
  const paths = [settings.pages.logo, settings.pages.stylesheet].filter(path => path !== null)
  const handle: OpenHandler = c =>
    files.serve(c.req.path, fileRequest(c)) ?? refuse('route_unknown')
  return paths.map(path => ({ method: 'GET', path: `/${path}`, access: 'open', handle }))
}

/** Where a `dl` without markers leads, when that is here: `{dl}/{crate}/{version}/download`. */
function downloadRoutes(registry: Registry, files: PublicFiles): Route[] {
  const { dl, base } = registry.urls
  if (dl.includes('{') || !dl.startsWith(`${base}/`)) return []
  const path = `${dl.slice(base.length).replace(/\/+$/, '')}/:name/:version/download`
  return [{ method: 'GET', path, access: 'reader', handle: download(registry, files) }]
}

/**
 * The path of a request as sent, still percent-encoded: a `+` means itself. Slashes at the front are one, because an
 * `api` written with a slash at its end makes Cargo ask for `//api/v1/…`.
 */
function rawPath(url: string): string {
  let start = url.indexOf('/', url.indexOf('://') + 3)
  while (url.charCodeAt(start + 1) === SLASH) start++
  const end = url.search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

const SLASH = 47
