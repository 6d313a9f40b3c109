import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import { examples, readSource } from '../examples.ts'
import type { About, Description, Operation, Parameter, Schema } from '../openapi.ts'
import { colored, linksOf } from './source.ts'
import { STYLE } from './style.ts'

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
function answer(c: Context, title: string, content: ReturnType<typeof html>) {
  const nonce = c.get('secureHeadersNonce')
  const document = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style nonce="${nonce}">${raw(STYLE)}</style>
<header><a href="/">Sample application</a></header>
<main><h1>${title}</h1>${content}</main>
<script nonce="${nonce}">${raw(SCRIPT)}</script>
</html>
`
  return c.html(document, 200, { 'Content-Type': 'text/html; charset=utf-8' })
}

/** All examples by chapter, each with its sentence and a request to try. */
export function indexPage(c: Context) {
  const base = `${new URL(c.req.url).origin}/examples`
  const all = [...examples.values()]
  const cards = all.map(({ chapter, name, about, request }, index) => {
    const curl = request.replace(/'(\/\S*)'$/, `'${base}/${name}$1'`)
    const isFirst = chapter !== all[index - 1]?.chapter
    return html`${isFirst && html`<h2>${chapter}</h2>`}
<section class="card" id="${name}"><h2><a href="/examples/${name}/docs">${name}</a></h2>
<p>${about}</p><pre>curl ${curl}</pre></section>`
  })
  const content = html`<p class="lead">${all.length} small <a href="https://hono.dev">Hono</a>
apps, each with a page to try it. Some answer <a href="/docs">at the root</a>, too.</p>
<div class="cards">${cards}</div>`
  return answer(c, 'Sample application', content)
}

/** The documentation on one page: the source of an example, and each operation with a form. */
export function docsPage(c: Context, page: About, { paths, servers }: Description) {
  const base = servers?.[0]?.url ?? ''
  const [, login = ''] = /Authorization: ([^']*)/.exec(page.request ?? '') ?? []
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
      const sent = method === 'post' && html`method="post" enctype="${type}"`
      const answers = Object.entries(operation.responses)
      const words = answers.map(([status, { description }]) => `${status} ${description}`)
      return html`<section class="card" id="${operation.operationId}">
<h2><span class="accent">${method.toUpperCase()}</span> <code>${path}</code></h2>
<form class="try" data-method="${method}" action="${base}${path}" ${sent}>
${fieldsOf(operation, login).map(input)}<p><button>Try it</button></p>
<output></output></form>
<p class="quiet">Answers: ${words.join(', ')}</p></section>`
    }),
  )
  const links = linksOf(page.source).map(([name, url]) => html`<a href="${url}">${name}</a> `)
  const shown = html`<pre class="source">${raw(colored(page.source))}</pre>
<p class="quiet">Used here: ${links}</p>`
  const content = html`<p class="lead">${page.about}</p>
${page.source && shown}${operations}
<p>Described in full by <a href="${base}/openapi.json">openapi.json</a>.</p>`
  return answer(c, page.name, content)
}

/** The inputs of a form: parameters, login, the fields of a form or a JSON body. */
function fieldsOf({ parameters = [], requestBody, security }: Operation, login: string) {
  const [[type = '', body] = []] = Object.entries(requestBody?.content ?? {})
  const { properties = {}, required = [] } = (body?.schema ?? {}) as FormSchema
  const json = type.endsWith('json') && { body: { default: JSON.stringify(body?.example) } }
  const sent = Object.entries(json || properties).map(([name, schema]) => {
    return { name, in: json ? 'body' : 'form', required: !!json || required.includes(name), schema }
  })
  const proof = { name: 'Authorization', in: 'header', required: false, schema: { default: login } }
  return [...parameters, ...(security ? [proof] : []), ...sent]
}

function input({ name, in: place, required, schema }: Omit<Parameter, 'deprecated'>) {
  const { title, deprecated, default: standard = '' } = schema
  const attributes = html`name="${name}" data-in="${place}" ${place === 'path' && 'required'}`
  const type = schema.contentMediaType ? 'file' : /password/.test(name) ? 'password' : 'text'
  // A list has a line for each value.
  const isLong = place === 'body' || JSON.stringify(schema).includes('"array"')
  const code = html`<code>${name}</code>`
  const words = [place, required && 'required', title, inWords(schema)].filter(Boolean)
  return html`<label>${deprecated ? html`<s>${code}</s> deprecated` : code}
<span class="quiet">${words.join(', ')}</span>
${isLong ? html`<textarea rows="3" ${attributes}>${standard}</textarea>` : html`<input type="${type}" value="${standard}" ${attributes}>`}</label>
`
}

/** `string, minLength 3, or null`. */
function inWords(schema: Schema): string {
  const { title: _, type, anyOf, deprecated: __, default: ___, ...rules } = schema
  if (Array.isArray(anyOf)) return anyOf.map(inWords).join(', or ')
  const words = Object.entries(rules).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return [type, ...words].filter(Boolean).join(', ')
}
