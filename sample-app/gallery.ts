import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { examples } from './catalogue.ts'
import { defaultApp, winners } from './default-app.ts'
import { page } from './docs/page.ts'
import { parseHeaderValue } from './form/header-value.ts'
import { unmatched } from './routing.ts'
import type { Settings } from './settings.ts'
import { type Bindings, routedPath, type SampleEnv } from './wire/target.ts'

/** Answers a request, given what the server passes along with it. */
export type Fetch = (request: Request, env?: Bindings) => Response | Promise<Response>

/**
 * Everything in one server: each example under `/examples/NAME/`, an index of them at `/examples/`, and the default
 * application at the root, where a browser gets the index too.
 */
export function gallery(settings: Settings): Fetch {
  const shelf = new Hono<SampleEnv>({ getPath: routedPath })
  shelf.notFound(unmatched(shelf))
  shelf.get('/examples/', index)
  for (const [name, { make }] of examples) {
    const base = `/examples/${name}`
    const { fetch } = make(settings).hono
    shelf.all(`${base}/:rest{.*}`, context => fetch(context.req.raw, { ...context.env, base }))
  }

  const main = defaultApp(settings).hono
  const front = new Hono<SampleEnv>({ getPath: routedPath })
  front.get('/', index)
  return async (request, env = {}) => {
    const path = routedPath(request, { env })
    if (path === '/examples' || path.startsWith('/examples/')) return shelf.fetch(request, env)
    if (path !== '/') return main.fetch(request, env)
    const response = await (wantsPage(request) ? front : main).fetch(request, env)
    response.headers.append('Vary', 'Accept')
    return response
  }
}

/** Whether a request reads, and names `text/html` among what it accepts; a weight of 0 means anything but that. */
function wantsPage({ method, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const accepted = (headers.get('accept') ?? '').split(',').map(parseHeaderValue)
  return accepted.some(({ value, parameters }) => value === 'text/html' && Number(parameters.get('q') ?? 1) !== 0)
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
