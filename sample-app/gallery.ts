import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { examples } from './catalogue.ts'
import { defaultApp, winners } from './default-app.ts'
import { page } from './docs/page.ts'
import { unmatched } from './routing.ts'
import type { Settings } from './settings.ts'
import { refusal } from './wire/response.ts'
import { type Bindings, routedPath, type SampleEnv } from './wire/target.ts'

/** Answers a request, given what the server passes along with it. */
export type Fetch = (request: Request, env?: Bindings) => Response | Promise<Response>

/**
 * Everything in one server: each example under `/examples/NAME/`, an index of them at `/examples/`, and the default
 * application at the root, where a browser gets the index too.
 */
export function gallery(settings: Settings): Fetch {
  const apps = new Map([...examples].map(([name, { make }]) => [name, make(settings).hono]))
  const shelf = new Hono<SampleEnv>({ getPath: routedPath })
  shelf.notFound(unmatched(shelf))
  shelf.get('/examples/', index)
  shelf.all('/examples/:name/:rest{.*}', context => {
    const name = context.req.param('name')
    const app = apps.get(name)
    if (!app) throw refusal(404, 'Not Found')
    return app.fetch(context.req.raw, { ...context.env, base: `/examples/${name}` })
  })

  const main = defaultApp(settings).hono
  const front = new Hono<SampleEnv>({ getPath: routedPath })
  front.get('/', index)
  return async (request, env = {}) => {
    const path = routedPath(request, { env })
    if (path === '/examples' || path.startsWith('/examples/')) return shelf.fetch(request, env)
    if (path !== '/') return main.fetch(request, env)
    const wantsPage = /\btext\/html\b/.test(request.headers.get('accept') ?? '')
    const response = await (wantsPage ? front : main).fetch(request, env)
    response.headers.append('Vary', 'Accept')
    return response
  }
}

function index(context: Context<SampleEnv>): Response | Promise<Response> {
  const { protocol, host } = new URL(context.req.url)
  const origin = `${protocol}//${host}`
  const rows = [...examples].map(
    ([name, example]) => html`<section id="${name}">
<h2><a href="/examples/${name}/docs">${name}</a></h2>
<p>${example.teaches}</p>
<pre>curl ${example.options ? `${example.options} ` : ''}'${origin}/examples/${name}${example.try}'</pre>
</section>
`,
  )
  const answers = winners.map(
    ([method, path, name]) =>
      html`<tr><td>${method} <code>${path}</code></td><td><a href="#${name}">${name}</a></td></tr>\n`,
  )
  return page(
    context,
    'Sample application',
    html`<h1>Sample application</h1>
<p>${examples.size} small Hono applications, each for one thing. Each answers under <code>/examples/NAME/</code> and describes
itself at <code>docs</code> and <code>openapi.json</code> there.</p>
${rows}
<h2 id="winners">At the root</h2>
<p>Of the examples that answer the same path, these do so without a prefix (<a href="/docs">documentation</a>).</p>
<table><tbody>
${answers}</tbody></table>`,
  )
}
