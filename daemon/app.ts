// daemon: The server: app.ts has each route with its access. The command `serve` calls it; SQL
// never stands here.
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { Refusal, refuse } from '../core/error/error.ts'
import { gitIndexPath } from '../generator/git/git-index.ts'
import { isStorageRefusal, systemRefusal } from '../generator/places/disk/fault.ts'
import { renderConfig } from '../generator/projections/index/config.ts'
import type { Registry } from '../generator/registry/registry.ts'
import { AccessGuard } from './access/access-guard.ts'
import {
  get,
  giving,
  type OpenHandler,
  patch,
  post,
  put,
  type Route,
  remove,
} from './access/route.ts'
import * as crates from './api/crates.ts'
import { crateDownloads, versionDownloads } from './api/downloads.ts'
import { openApi } from './api/openapi.ts'
import { deleteOwners, owners, putOwners } from './api/owners.ts'
import { publish } from './api/publish.ts'
import { search as searchApi } from './api/search.ts'
import * as trusted from './api/trusted.ts'
import { PROVIDERS, type Provider } from './api/trusted-schema.ts'
import { deleteDeprecation, patchVersion, putDeprecation, yank } from './api/yank.ts'
import type { Deps } from './deps.ts'
import { advertisedPaths, crateByChecksum } from './files/advertised-paths.ts'
import { bucketFiles } from './files/bucket-files.ts'
import { bucketStreams, type StreamFromBucket } from './files/bucket-streams.ts'
import { keyHeaderOf, toFolder, withKeys } from './files/file-headers.ts'
import { gitHttp } from './files/git-http/git-http.ts'
import { PublicFiles, type TreeFiles } from './files/public-files.ts'
import { quickFiles } from './files/quick-files.ts'
import { type StoredCrate, storedCrates } from './files/stored-crate.ts'
import { assetFile, latest, missingFile, treeFile, treePage } from './files/tree-file.ts'
import { UpstreamFiles } from './files/upstream.ts'
import { refused, unexpected } from './http/answer.ts'
import { addressOf } from './http/client-address.ts'
import type { FastPath } from './http/exchange.ts'
import { issuesOf, logFailure, requestLog } from './http/log.ts'
import { basePath, pageHeaders } from './http/page.ts'
import { readToEnd } from './http/request-body.ts'
import { probeAnswer, readiness } from './readiness.ts'
import { meRoutes } from './web/routes.ts'
import { searchResults } from './web/search-page.ts'
import { upstreamPages } from './web/upstream.ts'

/** Returns all routes of the daemon, in the order in which paths are matched. */
export function routes(deps: Deps, { files, stream } = servedBy(deps)): Route[] {
  const { registry } = deps
  const { settings } = registry
  const upstreamFiles = new UpstreamFiles(registry, deps.upstreams, stream)
  const missing = missingFile(registry, files, upstreamFiles.fallback)
  const on = giving(deps)
  const crate = '/api/v1/crates/:name'
  const version = `${crate}/:version`
  const document = openApi(registry, () => routes(deps))
  const isCounted = settings.downloads.count === 'served'
  const brand = [settings.pages.logo, settings.pages.stylesheet].filter(path => path !== null)
  const prefix = prefixOf(registry.urls)
  const toSlash = (c: Context) => new Response(null, toFolder(c.req.path, c.req.url))
  const stored = storedCrates(registry, stream, isCounted ? deps.downloads.count : undefined)
  return [
    get('/healthz', 'open', () => probeAnswer('ok\n', 200)),
    get('/readyz', 'open', readiness(deps)),
    get('/startupz', 'open', () => probeAnswer('started\n', 200)),
    get('/metrics', 'reader', () => deps.metrics.page()),
    ...meRoutes(deps),
    get('/assets/*', 'open', assetFile(files)),
    get('/favicon.ico', 'open', treeFile(files)),
    ...brand.map(path => get(`/${path}`, 'open', treeFile(files))),
    put('/api/v1/crates/new', ['publish-new', 'publish-update'], on(publish), 'publish'),
    remove(`${version}/yank`, ['yank'], on(yank(true)), 'change'),
    put(`${version}/unyank`, ['yank'], on(yank(false)), 'change'),
    patch(version, ['yank'], on(patchVersion(crates.version)), 'change'),
    put(`${crate}/deprecation`, ['yank'], on(putDeprecation), 'change'),
    remove(`${crate}/deprecation`, ['yank'], on(deleteDeprecation), 'change'),
    get(`${crate}/owners`, 'member', on(owners), 'read'),
    put(`${crate}/owners`, ['change-owners'], on(putOwners), 'change'),
    remove(`${crate}/owners`, ['change-owners'], on(deleteOwners), 'change'),
    get('/api/v1/crates', 'reader', on(searchApi), 'search'),
    get('/api/v1/summary', 'reader', on(crates.summary), 'read'),
    get(crate, 'reader', on(crates.crate), 'read'),
    get(`${crate}/versions`, 'reader', on(crates.versions), 'read'),
    get(`${crate}/reverse_dependencies`, 'reader', on(crates.reverseDependencies), 'read'),
    get(`${crate}/downloads`, 'reader', on(crateDownloads), 'read'),
    get(version, 'reader', on(crates.version), 'read'),
    get(`${version}/dependencies`, 'reader', on(crates.dependencies), 'read'),
    get(`${version}/downloads`, 'reader', on(versionDownloads), 'read'),
    get(`${version}/authors`, 'reader', on(crates.authors), 'read'),
    get(`${version}/readme`, 'reader', on(crates.readme), 'read'),
    get(`${version}/download`, 'reader', on(crates.download(files, stored))),
    post('/api/v1/trusted_publishing/tokens', 'open', on(trusted.exchangeToken), 'exchange'),
    remove('/api/v1/trusted_publishing/tokens', 'open', on(trusted.revokeToken), 'exchange'),
    ...PROVIDERS.flatMap(provider => trustedRoutes(deps, provider)),
    patch(crate, ['trusted-publishing'], on(trusted.patchCrate), 'change'),
    get('/api/openapi.json', 'reader', document),
    ...upstreamPages(deps, upstreamFiles.spend),
    ...upstreamFiles.routes(missing),
    ...downloadRoutes(deps, files, stored, missing),
    ...gitRoutes(deps),
    get('/search/', 'reader', on(searchResults), 'search'),
    get('/crates/:name/latest/*', 'reader', latest(registry, missing)),
    ...(prefix === null ? [] : [get(prefix, 'reader', toSlash)]),
    get('/*', 'reader', treePage(files, stored, missing)),
  ]
}

function trustedRoutes(deps: Deps, provider: Provider): Route[] {
  const on = giving(deps)
  const path = `/api/v1/trusted_publishing/${provider}_configs`
  return [
    get(path, ['trusted-publishing'], on(trusted.configs(provider)), 'read'),
    post(path, ['trusted-publishing'], on(trusted.postConfig(provider)), 'change'),
    remove(`${path}/:id`, ['trusted-publishing'], on(trusted.deleteConfig(provider)), 'change'),
  ]
}

function servedBy({ registry, downloads }: Deps): {
  readonly files: TreeFiles
  readonly stream: StreamFromBucket
} {
  const { settings } = registry
  const stream = bucketStreams({ addressOf: addressOf(settings.server) })
  const options = {
    pageHeaders: pageHeaders(registry.site),
    keyHeader: keyHeaderOf(settings),
    config: renderConfig(registry.urls, settings.auth.required).bytes,
  }
  const { shared } = registry.tree
  if (shared) return { files: bucketFiles(shared, registry, stream, options), stream }
  const { root, changes } = registry.tree
  const onDownload = settings.downloads.count === 'served' ? downloads.count : undefined
  return { files: new PublicFiles(root, { ...options, changes, onDownload }), stream }
}

/**
 * Creates the daemon's Hono app, and `quick`, which answers requests for files before it. `quick`
 * is null in a private registry, where the app checks readers, and when every request is logged.
 */
export function createApp(deps: Deps): Hono & { readonly quick: FastPath | null } {
  const { log, metrics, registry } = deps
  const { limits, api, auth } = registry.settings
  const pathOf = pathReader(registry)
  const app = new Hono({
    getPath: ({ url }) => pathOf(url.slice(url.indexOf('/', url.indexOf('://') + 3))),
  })
  const served = servedBy(deps)
  const { files } = served
  // Reads are frequent, so they have this middleware only if the lines are written.
  if (log.isLevelEnabled('debug')) app.get('/*', requestLog(log, null))
  const changing = ['PUT', 'DELETE', 'POST', 'PATCH']
  const bounds = { bytes: limits.crate_bytes + 64 * 1024 ** 2, seconds: limits.request_seconds }
  app.on(changing, '/*', showUnknown(deps))
  app.on(changing, '/*', requestLog(log, addressOf(registry.settings.server)), readToEnd(bounds))
  app.use(metrics.middleware)
  // Not pages of accounts: their compressed length would tell of the tokens in them (BREACH).
  // Answers to changes are too short for it.
  for (const path of ['/api/*', '/search/', '/metrics', '/assets/*'])
    app.get(path, compress({ encoding: 'gzip' }))
  const keyHeader = keyHeaderOf(registry.settings)
  if (keyHeader) app.get('/*', withKeys(keyHeader))
  const guard = new AccessGuard(registry, log)
  for (const route of routes(deps, served))
    app.on(route.method, route.path, c => guard.enter(route, c))
  // Not `app.notFound`: its refusals would bypass metrics and log.
  app.all('/*', () => refuse('route_unknown'))
  app.onError((error, c) => {
    const refusal = error instanceof Refusal ? error : systemRefusal(error, 'client')
    if (!refusal) return unexpected(c, error, log)
    const { method, path } = c.req
    if (refusal !== error) logFailure(log, error, refusal.message, { method, path })
    else if (isStorageRefusal(error)) logFailure(log, error, 'the registry cannot be written to')
    return refused(c, refusal, isHonest(c) ? 'http' : api.error_status)
  })
  // Hono builds its router with the first match: not at the expense of the first request.
  app.router.match('GET', '/')
  const isGuarded = auth.required || log.isLevelEnabled('debug')
  const onFailure = (error: unknown) => logFailure(log, error, 'cannot read a file')
  const quick =
    isGuarded || !(files instanceof PublicFiles)
      ? null
      : quickFiles(files, pathOf, metrics.countFile, onFailure)
  return Object.assign(app, { quick })
}

/** Whether failures have their real status in any case: Cargo never asks this. */
function isHonest(c: Context): boolean {
  const { method, path } = c.req
  return method === 'PATCH' || /^\/api\/v1\/(?:trusted_publishing\/|.*\/deprecation$)/.test(path)
}

/** Shows what a change may have made whose outcome nobody knows. */
function showUnknown({ indexWorker, git }: Deps): MiddlewareHandler {
  return async (c, next) => {
    await next()
    if (!issuesOf(c).some(({ code }) => code === 'commit_unknown')) return
    indexWorker.hurry()
    git?.wake()
  }
}

function gitRoutes({ git, log, registry }: Deps): Route[] {
  if (!git) return []
  const onFailure = (error: unknown) => logFailure(log, error, 'cannot serve the git index')
  const handle = gitHttp({
    repositoryPath: gitIndexPath(registry),
    addressOf: addressOf(registry.settings.server),
    onFailure,
  })
  return [get('/index.git/*', 'reader', handle), post('/index.git/*', 'reader', handle)]
}

/** Returns the routes of downloads by checksum, and of a local `dl` without markers. */
function downloadRoutes(
  deps: Deps,
  files: TreeFiles,
  stored: StoredCrate,
  missing: OpenHandler,
): Route[] {
  const { registry } = deps
  const { dl, base } = registry.urls
  const byChecksum = crateByChecksum(registry, files, stored, missing)
  const ours = byChecksum ? [get(byChecksum[0], 'reader', byChecksum[1])] : []
  if (dl.includes('{') || !`${dl}/`.startsWith(`${base}/`)) return ours
  const path = `${dl.slice(base.length)}/:name/:version/download`
  return [...ours, get(path, 'reader', giving(deps)(crates.download(files, stored)))]
}

const OWN = new Set(
  '- api assets crates healthz images index index.git me metrics readyz search startupz upstream'.split(
    ' ',
  ),
)

/** Slashes too many before a path that clients make of a configured URL. */
const SLASHES = /^\/+(?=\/(?:api|index)\/)/

/**
 * Returns the reader of request paths, which stay percent-encoded; `+` means itself. It merges
 * leading slashes where an `api` with a final slash makes Cargo request `//api/v1/…`, and nowhere
 * else: what a proxy keeps from others must have one path. It removes a prefix that a proxy left,
 * unless the prefix starts like one of the daemon's own paths. An advertised path of a
 * `.crate` becomes that in the tree.
 */
function pathReader(registry: Registry): (target: string) => string {
  const prefix = prefixOf(registry.urls)
  const inTree = advertisedPaths(registry) ?? (path => path)
  return target => {
    const path = target.replace(/[?#].*$/s, '').replace(SLASHES, '')
    const isBelow = prefix !== null && path.startsWith(`${prefix}/`)
    return inTree(isBelow ? path.slice(prefix.length).replace(SLASHES, '') : path)
  }
}

/** Returns the path of the base URL, which a proxy may leave in front of ours; null for none. */
function prefixOf(urls: Registry['urls']): string | null {
  const prefix = basePath(urls)
  return OWN.has(prefix.split('/')[1] ?? '') ? null : prefix || null
}
