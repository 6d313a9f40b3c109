import { unescape as undoPercent } from 'node:querystring'
import { type Context, Hono } from 'hono'
import { pageHeaders } from './examples/body/uploads.ts'
import { answerError } from './examples/errors.ts'
import { exactIntegers } from './examples/path/path-params-int.ts'
import type { Example } from './examples.ts'
import { type About, describe } from './openapi.ts'
import { docsPage } from './pages/docs-page.ts'
import type { SampleEnv } from './settings.ts'

type App = Hono<SampleEnv>
type C = Context<SampleEnv>

/** An app without routes: what all examples have in common around their own. */
export function emptyApp(): App {
  const app = new Hono<SampleEnv>({ getPath: routedPath })
  app.use(exactIntegers)
  app.notFound(c => unmatched(app, c))
  app.onError(answerError)
  return app
}

/** Adds apps under a path that ends with a slash, and their documentation beside them. */
export function serveUnder(app: App, base: string, about: About, apps: readonly Example['app'][]) {
  const description = describe(about, apps, base)
  app.get(`${base}openapi.json`, c => c.json(description))
  app.get(`${base}docs`, pageHeaders, c => docsPage(c, description))
  if (!('/' in description.paths)) app.get(base, c => c.redirect(`${base}docs`))
  for (const one of apps) app.route(base, one)
  return app
}

/**
 * Answers what no route took, in this order: 405 with `Allow` where another method would have been
 * taken, 307 where the path differs from a route by its slash at the end, 404.
 */
function unmatched(app: App, c: C): Response {
  const allowed = methodsOf(app, c.req.path).join(', ')
  if (allowed) return c.json({ detail: 'Method Not Allowed' }, 405, { Allow: allowed })
  const other = toggleSlash(c.req.path)
  if (!other || methodsOf(app, other).length === 0) return c.json({ detail: 'Not Found' }, 404)
  // To the same place as the client wrote it, scheme, host and query untouched.
  const { path, query } = target(c.req.raw, c.env)
  const { protocol, host } = new URL(c.req.url)
  const origin = `${protocol}//${c.env?.incoming?.headers.host ?? host}`
  const Location = `${origin}${toggleSlash(path)}${query}`
  return c.body(null, 307, { Location, 'Content-Length': '0' })
}

/** The methods that a path is taken with, asked of Hono's own router. HEAD goes along with GET. */
function methodsOf(app: App, path: string): string[] {
  const methods = new Set(app.routes.map(({ method }) => method).filter(one => one !== 'ALL'))
  const takes = (method: string) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method)
  return [...methods].filter(takes)
}

/** Without the slashes at its end, or with one when there is none. */
function toggleSlash(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return end === path.length ? `${path}/` : path.slice(0, end)
}

/**
 * Hono's `getPath`: what routes are matched with, from the wire; `new URL` would collapse dot
 * segments. Each segment is decoded and encoded again, so `/%69tems` meets `/items`, `%2F` stays
 * inside its segment, and Hono's own decoding of parameters is the only one a value sees.
 */
function routedPath(request: Request, options?: { env?: SampleEnv['Bindings'] }): string {
  const segments = target(request, options?.env).path.split('/')
  return segments.map(one => encodeURIComponent(undoPercent(one))).join('/')
}

/** Path and query as they were on the wire, nothing decoded or collapsed. */
function target(request: Request, env: SampleEnv['Bindings'] | undefined) {
  const written = env?.incoming?.url ?? request.url
  const [, path, query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?]*)(.*)$/is.exec(written) ?? []
  return { path: path || '/', query }
}
