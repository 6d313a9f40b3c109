import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { matchedRoutes } from 'hono/route'
import type { RouterRoute } from 'hono/types'
import { answerError } from './examples/answers/errors.ts'
import { type Example, examples } from './examples.ts'
import { describe } from './openapi.ts'
import { docsPage, indexPage, pageHeaders } from './pages/pages.ts'
import { spooledForms } from './parity/forms.ts'
import { type NodeEnv, target, wireCookies, wirePath } from './parity/wire.ts'
import { incomplete } from './valid/incomplete.ts'

type App = Hono<NodeEnv>

/** The examples at the root of the gallery, too; the first of two equal routes counts. */
const FRONT = `root query-optional path-params path-converter query-params body query-mixed forms
uploads dependencies dependencies-cache security https`.split(/\s/)

/** The frame of all examples here: 404, 405 and 307, and errors as JSON. */
export function emptyApp(): App {
  const app = new Hono<NodeEnv>({ getPath: wirePath })
  const onMethodNotAllowed = (c: Context, methods: readonly string[]) => {
    const Allow = methods.filter(method => method !== 'HEAD').join(', ')
    return c.json({ detail: 'Method Not Allowed' }, 405, { Allow })
  }
  app.use(methodNotAllowed({ app, onMethodNotAllowed }))
  // A path without a route is refused before a whole app asks for anything.
  app.use((c, next) => (matchedRoutes(c).some(mayAnswer) ? next() : Promise.resolve(c.notFound())))
  app.use(wireCookies, spooledForms)
  app.notFound(c => unmatched(app, c))
  // When the client went away while its body was being read, nobody hears the answer.
  app.onError((error, c) =>
    error === c.env?.incoming?.errored ? c.body(null, 400) : answerError(error, c),
  )
  return app
}

/** One example at the root. */
export const single = (example: Example) => serveUnder(emptyApp(), '/', [example])

/** All examples below `/examples/`, some at the root, too, and an index of them for browsers. */
export function gallery(): App {
  const app = emptyApp()
  app.get('/examples/', pageHeaders, indexPage)
  for (const [name, example] of examples) serveUnder(app, `/examples/${name}/`, [example])
  const supports = ['application/json', 'text/html']
  app.get('/', pageHeaders, (c, next) => {
    c.header('Vary', 'Accept')
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
    return type === 'text/html' ? indexPage(c) : next()
  })
  const front = FRONT.flatMap(name => examples.get(name) ?? [])
  return serveUnder(app, '/', front)
}

/** Adds apps under a path that ends with a slash, and their documentation beside them. */
function serveUnder(app: App, base: string, parts: Example[]): App {
  const [example] = parts.length === 1 ? parts : []
  const about = example ?? { name: 'Sample application', about: 'Some examples, together.' }
  const description = describe(about, parts, base)
  app.get(`${base}openapi.json`, c => c.json(description))
  app.get(`${base}docs`, pageHeaders, c => docsPage(c, description, example))
  if (!('/' in description.paths)) app.get(base, c => c.redirect(`${base}docs`))
  for (const { name, app: part } of parts) {
    const forgotten = incomplete(part)
    if (forgotten.length > 0) throw new Error(`${name}: no \`complete\` in ${forgotten}`)
    app.route(base, part)
  }
  return app
}

/** Whether a route is anything else than middleware on all paths of an app. */
const mayAnswer = ({ method, path, basePath }: RouterRoute) =>
  method !== 'ALL' || path !== `${basePath.replace(/\/$/, '')}/*`

// 307 for a path that differs from a route's only by a slash at its end, else 404.
function unmatched(app: App, c: Context<NodeEnv>): Response {
  const methods = [...new Set(app.routes.map(({ method }) => method))]
  // What is for all below a path, as `cors` may be, does not care about a slash at its end.
  const cares = ({ method, path }: RouterRoute) => method !== 'ALL' || !path.endsWith('*')
  const answers = (verb: string, path: string) =>
    app.router.match(verb, path)[0].some(([[, route]]) => cares(route))
  const takes = (path: string) => methods.some(verb => answers(verb, path))
  if (takes(c.req.path) || !takes(toggleSlash(c.req.path)))
    return c.json({ detail: 'Not Found' }, 404)
  // To the same place as the client wrote it, with the query untouched.
  const { path, query } = target(c.req.raw, c.env)
  const Location = `${new URL(c.req.url).origin}${toggleSlash(path)}${query}`
  return c.body(null, 307, { Location, 'Content-Length': '0' })
}

/** Without the slashes at its end, or with one when there is none. */
const toggleSlash = (path: string) =>
  path.replace(/(?<!\/)(?:\/+)?$/, slashes => (slashes ? '' : '/'))
