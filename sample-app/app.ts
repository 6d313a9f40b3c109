import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { matchedRoutes } from 'hono/route'
import type { RouterRoute } from 'hono/types'
import { answerError } from './examples/answers/errors.ts'
import { type Example, examples } from './examples.ts'
import { type About, describe } from './openapi.ts'
import { docsPage, indexPage, pageHeaders } from './pages/pages.ts'
import { spooledForms } from './parity/forms.ts'
import { type NodeEnv, wireCookies, wirePath } from './parity/wire.ts'

/** The examples at the root of the gallery, too; the first of two equal routes counts. */
const FRONT = `root query-optional path-params path-converter query-params body query-mixed forms
uploads dependencies dependencies-cache security https`.split(/\s/)
const FRONT_PAGE = { name: 'Sample application', about: 'Some examples, together.', source: '' }

/** The frame of all examples here: 404, 405 and 307, and errors as JSON. */
export function emptyApp() {
  const app = new Hono<NodeEnv>({ getPath: wirePath })
  const onMethodNotAllowed = (c: Context, methods: readonly string[]) => {
    const Allow = methods.filter(method => method !== 'HEAD').join(', ')
    return c.json({ detail: 'Method Not Allowed' }, 405, { Allow })
  }
  app.use(methodNotAllowed({ app, onMethodNotAllowed }))
  // A path without a route is refused before a whole app asks for anything.
  app.use(async (c, next) => (matchedRoutes(c).some(mayAnswer) ? next() : c.notFound()))
  app.use(wireCookies, spooledForms)
  app.notFound(c => unmatched(app, c))
  // When the client went away while its body was being read, nobody hears the answer.
  app.onError((error, c) =>
    error === c.env?.incoming?.errored ? c.body(null, 400) : answerError(error, c),
  )
  return app
}

/** One example at the root. */
export const single = (example: Example) => serveUnder(emptyApp(), '/', example, [example])

/** All examples below `/examples/`, some at the root, too, and an index of them for browsers. */
export function gallery() {
  const app = emptyApp()
  app.get('/examples/', pageHeaders, indexPage)
  for (const [name, example] of examples) serveUnder(app, `/examples/${name}/`, example, [example])
  const supports = ['application/json', 'text/html']
  app.get('/', pageHeaders, (c, next) => {
    c.header('Vary', 'Accept')
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
    return type === 'text/html' ? indexPage(c) : next()
  })
  const front = FRONT.flatMap(name => examples.get(name) ?? [])
  return serveUnder(app, '/', FRONT_PAGE, front)
}

/** Adds apps under a path that ends with a slash, and their documentation beside them. */
function serveUnder(app: Hono<NodeEnv>, base: string, about: About, parts: Example[]) {
  const description = describe(about, parts, base)
  app.get(`${base}openapi.json`, c => c.json(description))
  app.get(`${base}docs`, pageHeaders, c => docsPage(c, about, description))
  if (!('/' in description.paths)) app.get(base, c => c.redirect(`${base}docs`))
  for (const part of parts) app.route(base, part.app)
  return app
}

/** Whether a route is anything else than middleware on all paths of an app. */
const mayAnswer = ({ method, path, basePath }: RouterRoute) =>
  method !== 'ALL' || path !== `${basePath.replace(/\/$/, '')}/*`

// 307 for a path that only a slash at its end keeps from a route, not from middleware; else 404.
function unmatched({ routes, router }: Hono<NodeEnv>, c: Context<NodeEnv>): Response {
  const methods = [...new Set(routes.map(({ method }) => method))]
  const takes = (path: string) =>
    methods.some(verb => router.match(verb, path)[0].some(([[, route]]) => route.method !== 'ALL'))
  if (takes(c.req.path) || !takes(toggleSlash(c.req.path)))
    return c.json({ detail: 'Not Found' }, 404)
  // With the query as it was sent.
  const [query = ''] = /\?.*/s.exec(c.env?.incoming?.url ?? c.req.url) ?? []
  const Location = `${new URL(c.req.url).origin}${toggleSlash(c.req.path)}${query}`
  return c.body(null, 307, { Location, 'Content-Length': '0' })
}

/** Without the slashes at its end, or with one when there is none. */
const toggleSlash = (path: string) =>
  path.endsWith('/') ? path.replace(/(?<!\/)\/+$/, '') : `${path}/`
