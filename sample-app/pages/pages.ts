import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import { type Example, readSource } from '../examples.ts'
import type { Description, Operation, Parameter, Schema } from '../openapi.ts'
import { colored, linksOf } from './source.ts'
import { STYLE } from './style.ts'

type Html = ReturnType<typeof html>
type FormSchema = { properties?: Record<string, Schema>; required?: string[] }

const SCRIPT = readSource('pages/try.js')
const [self, none] = [["'self'"], ["'none'"]]
const POLICY = { connectSrc: self, formAction: self, frameAncestors: none, baseUri: none }

/** A page loads nothing from elsewhere and may be framed by nobody. */
export const pageHeaders = secureHeaders({
  contentSecurityPolicy: { defaultSrc: none, styleSrc: [NONCE], scriptSrc: [NONCE], ...POLICY },
  strictTransportSecurity: false,
})

/** A whole page, for a route behind `pageHeaders`. */
function page(c: Context, title: string, content: Html) {
  const nonce = c.get('secureHeadersNonce')
  const document = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style nonce="${nonce}">${raw(STYLE)}</style>
<header><a href="/">Sample application</a></header>
<main>
<h1>${title}</h1>
${content}
</main>
<script nonce="${nonce}">${raw(SCRIPT)}</script>
</html>
`
  return c.html(document, 200, { 'Content-Type': 'text/html; charset=utf-8' })
}

const card = (id: string, heading: Html, content: Html) =>
  html`<section class="card" id="${id}"><h2>${heading}</h2>${content}</section>`

/** All examples by chapter, each with its sentence and a request to try. */
export function indexPage(c: Context, examples: readonly Example[]) {
  const base = `${new URL(c.req.url).origin}/examples`
  const cardOf = ({ name, about, request }: Example) => {
    const curl = request.replace(/'(\/\S*)'$/, (_, path) => `'${base}/${name}${path}'`)
    const heading = html`<a href="/examples/${name}/docs">${name}</a>`
    return card(name, heading, html`<p>${about}</p><pre>curl ${curl}</pre>`)
  }
  const chapters = [...new Set(examples.map(({ chapter }) => chapter))].map((title, index) => {
    const cards = examples.filter(({ chapter }) => chapter === title).map(cardOf)
    return html`<h2>${index + 1}. ${title}</h2><div class="cards">${cards}</div>`
  })
  const content = html`<p class="lead">${examples.length} small <a href="https://hono.dev">Hono</a>
apps, each with a page to try it. Some answer <a href="/docs">at the root</a>, too.</p>
${chapters}`
  return page(c, 'Sample application', content)
}

/** The documentation on one page: the source of an example, and each operation with a form. */
export function docsPage(c: Context, { info, paths, servers }: Description, example?: Example) {
  const base = servers?.[0]?.url ?? ''
  const [, authorization = ''] = /Authorization: ([^']*)/.exec(example?.request ?? '') ?? []
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
      const answers = Object.entries(operation.responses).map(
        ([status, { description }]) => `${status} ${description}`,
      )
      const heading = html`<span class="accent">${method.toUpperCase()}</span> <code>${path}</code>`
      const sent = method === 'post' && html`method="post" enctype="${type}"`
      const form = html`<form class="try" data-method="${method}" action="${base}${path}" ${sent}>
${fieldsOf(operation, authorization).map(input)}<p><button>Try it</button></p>
<output></output>
</form>
<p class="quiet">Answers: ${answers.join(', ')}</p>`
      return card(operation.operationId, heading, form)
    }),
  )
  const source = example?.source ?? ''
  const links = linksOf(source).map(([name, url]) => html`<a href="${url}">${name}</a> `)
  const shown = html`<pre class="source">${raw(colored(source))}</pre>
<p class="quiet">Used here: ${links}</p>`
  const content = html`<p class="lead">${info.description}</p>
${example && shown}${operations}
<p>Described in full by <a href="${base}/openapi.json">openapi.json</a>.</p>`
  return page(c, info.title, content)
}

/** The inputs of a form: parameters, login, the fields of a form or a JSON body. */
function fieldsOf({ parameters = [], requestBody, security }: Operation, authorization: string) {
  const fields: Parameter[] = [...parameters]
  const add = (place: string, name: string, schema: Schema, required = true) =>
    fields.push({ name, in: place, required, schema })
  if (security) add('header', 'Authorization', { default: authorization }, false)
  for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
    const { properties = {}, required = [] } = schema as FormSchema
    for (const [name, schema] of Object.entries(properties)) {
      if (!type.endsWith('json')) add('form', name, schema, required.includes(name))
    }
    if (type.endsWith('json')) add('body', 'body', { default: JSON.stringify(example) })
  }
  return fields
}

function input({ name, in: place, required, deprecated, schema }: Parameter) {
  const { title, default: given = '' } = schema
  const attributes = html`name="${name}" data-in="${place}" ${place === 'path' && 'required'}`
  const type = schema.contentMediaType ? 'file' : /password/.test(name) ? 'password' : 'text'
  // A list has a line for each value.
  const isLong = place === 'body' || JSON.stringify(schema).includes('"array"')
  const code = html`<code>${name}</code>`
  const words = [place, required && 'required', title, inWords(schema)].filter(Boolean)
  return html`<label>${deprecated ? html`<s>${code}</s> deprecated` : code}
<span class="quiet">${words.join(', ')}</span>
${isLong ? html`<textarea rows="3" ${attributes}>${given}</textarea>` : html`<input type="${type}" value="${given}" ${attributes}>`}</label>
`
}

/** `string, minLength 3, or null`. */
function inWords(schema: Schema): string {
  const { title: _, type, anyOf, deprecated: __, default: ___, ...rules } = schema
  if (Array.isArray(anyOf)) return anyOf.map(inWords).join(', or ')
  const words = Object.entries(rules).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return [type, ...words].filter(Boolean).join(', ')
}
