import type { Context, Hono } from 'hono'
import { html } from 'hono/html'
import { parseAccept } from 'hono/utils/accept'
import { emptyApp, serveUnder } from './app.ts'
import { pageHeaders } from './examples/body/uploads.ts'
import { type Example, examples } from './examples.ts'
import { page } from './pages/page.ts'
import type { SampleEnv } from './settings.ts'

/** What answers at the root of the gallery, too; of two that answer the same, the first counts. */
const FRONT = `root query-optional path-params path-converter query-params body query-mixed forms
uploads dependencies dependencies-cache security https`.split(/\s/)

/** One example at the root. */
export function single(example: Example): Hono<SampleEnv> {
  return serveUnder(emptyApp(), '/', example, [example.app])
}

/**
 * Everything in one server: each example under `/examples/NAME/`, an index of them at `/examples/`,
 * and at the root some of them together, where a browser gets the index.
 */
export function gallery(): Hono<SampleEnv> {
  const app = emptyApp()
  app.get('/examples/', pageHeaders, index)
  for (const one of examples.values()) serveUnder(app, `/examples/${one.name}/`, one, [one.app])
  app.get('/', pageHeaders, (c, next) => {
    c.header('Vary', 'Accept')
    return wantsPage(c) ? index(c) : next()
  })
  const about = { name: 'Sample application', about: 'Some examples, together.' }
  const front = FRONT.flatMap(name => examples.get(name)?.app ?? [])
  return serveUnder(app, '/', about, front)
}

/** Whether `text/html` is named among what is accepted; a weight of 0 means anything but that. */
function wantsPage(c: Context): boolean {
  const accepted = parseAccept(c.req.header('accept') ?? '')
  return accepted.some(({ type, q }) => type.toLowerCase() === 'text/html' && q > 0)
}

function index(c: Context): Response | Promise<Response> {
  const base = `${new URL(c.req.url).origin}/examples`
  const cards = [...examples.values()].map(
    ({ name, about, request }) => html`<section class="card" id="${name}">
<h2><a href="/examples/${name}/docs">${name}</a></h2>
<p>${about}</p>
<pre>curl ${request.replace(/\S+$/, path => `'${base}/${name}${path}'`)}</pre>
</section>
`,
  )
  const content = html`<h1>Sample application</h1>
<p class="lead">${cards.length} small <a href="https://hono.dev">Hono</a> apps, each for one thing.
Each has a page where you can try it.</p>
<div class="cards">${cards}</div>
<h2>At the root</h2>
<p>Some answer <a href="/docs">without a prefix</a>, too: ${FRONT.join(', ')}.
Of two that answer the same path, the first counts.</p>`
  return page(c, 'Sample application', content)
}
