import { unescape as undoPercent } from 'node:querystring'
import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import type { NodeEnv } from './ask/ask.ts'
import { pageHeaders } from './examples/body/uploads.ts'
import { answerError } from './examples/errors.ts'
import { exactIntegers } from './examples/path/path-params-int.ts'
import { type Example, examples } from './examples.ts'
import { type About, describe } from './openapi.ts'
import { docsPage, indexPage } from './pages/pages.ts'

type App = Hono<NodeEnv>

/** What answers at the root of the gallery, too; of two that answer the same, the first counts. */
const FRONT = `root query-optional path-params path-converter query-params body query-mixed forms
uploads dependencies dependencies-cache security https`.split(/\s/)

/** An app without routes: what all examples have in common around their own. */
export function emptyApp(): App {
  const app = new Hono<NodeEnv>({ getPath: routedPath })
  app.use(exactIntegers)
  app.notFound(c => unmatched(app, c))
  app.onError(answerError)
  return app
}

/** One example at the root. */
export function single(example: Example): App {
  return serveUnder(emptyApp(), '/', example, [example.app])
}

/** All examples below `/examples/`, some at the root, too, and an index of them for browsers. */
export function gallery(): App {
  const app = emptyApp()
  const index = (c: Context) => indexPage(c, examples.values())
  app.get('/examples/', pageHeaders, index)
  for (const one of examples.values()) serveUnder(app, `/examples/${one.name}/`, one, [one.app])
  app.get('/', pageHeaders, (c, next) => {
    c.header('Vary', 'Accept')
    const supports = ['application/json', 'text/html']
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
    return type === 'text/html' ? index(c) : next()
  })
  const front = FRONT.flatMap(name => examples.get(name)?.app ?? [])
  const about = { name: 'Sample application', about: 'Some examples, together.' }
  return serveUnder(app, '/', about, front)
}

/** Adds apps under a path that ends with a slash, and their documentation beside them. */
function serveUnder(app: App, base: string, about: About, apps: Example['app'][]) {
  const description = describe(about, apps, base)
  app.get(`${base}openapi.json`, c => c.json(description))
  app.get(`${base}docs`, pageHeaders, c => docsPage(c, description))
  if (!('/' in description.paths)) app.get(base, c => c.redirect(`${base}docs`))
  for (const one of apps) app.route(base, one)
  return app
}

// Answers what no route took, in this order: 405 with `Allow` where another method would have been
// taken, 307 where the path differs from a route by its slash at the end, 404.
function unmatched(app: App, c: Context<NodeEnv>): Response {
  const allowed = methodsOf(app, c.req.path).join(', ')
  if (allowed) return c.json({ detail: 'Method Not Allowed' }, 405, { Allow: allowed })
  const other = methodsOf(app, toggleSlash(c.req.path))
  if (other.length === 0) return c.json({ detail: 'Not Found' }, 404)
  // To the same place as the client wrote it, with the query untouched.
  const { path, query } = target(c.req.raw, c.env)
  const Location = `${new URL(c.req.url).origin}${toggleSlash(path)}${query}`
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
  const bare = path.replace(/(?<!\/)\/+$/, '')
  return bare === path ? `${path}/` : bare
}

// Hono's `getPath`: what routes are matched with. Each segment is decoded and encoded again, so
// `/%69tems` meets `/items`, `%2F` stays inside its segment, and Hono decodes a value once.
function routedPath(request: Request, options?: { env?: NodeEnv['Bindings'] }): string {
  const segments = target(request, options?.env).path.split('/')
  return segments.map(one => encodeURIComponent(undoPercent(one))).join('/')
}

/** Path and query as they were on the wire: `new URL` would collapse dot segments. */
function target(request: Request, env: NodeEnv['Bindings'] | undefined) {
  const written = env?.incoming?.url ?? request.url
  const [, path, query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?]*)(.*)$/is.exec(written) ?? []
  return { path: path || '/', query }
}
