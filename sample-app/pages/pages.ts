import { readFileSync } from 'node:fs'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import type { Example } from '../examples.ts'
import type { Description, Operation, Parameter, Schema } from '../openapi.ts'
import { STYLE } from './style.ts'

type Html = ReturnType<typeof html>
type FormSchema = { properties?: Record<string, Schema>; required?: string[] }

/** Compiled code runs from `dist/`; the script for browsers stays among the sources. */
const SCRIPT = readFileSync(new URL('../../../sample-app/pages/try.js', import.meta.url), 'utf8')

/** A whole page, for a route behind `pageHeaders`. */
export function page(c: Context, title: string, content: Html) {
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

const card = (id: string, heading: Html, content: Html) => html`<section class="card" id="${id}">
<h2>${heading}</h2>
${content}
</section>
`

/** All examples, each with its sentence and a request to try. */
export function indexPage(c: Context, examples: Iterable<Example>) {
  const base = `${new URL(c.req.url).origin}/examples`
  const cards = [...examples].map(({ name, about, request }) => {
    const curl = request.replace(/\S+$/, path => `'${base}/${name}${path}'`)
    const heading = html`<a href="/examples/${name}/docs">${name}</a>`
    return card(name, heading, html`<p>${about}</p><pre>curl ${curl}</pre>`)
  })
  const content = html`<p class="lead">${cards.length} small <a href="https://hono.dev">Hono</a>
apps, each with a page to try it. Some answer <a href="/docs">at the root</a>, too.</p>
<div class="cards">${cards}</div>`
  return page(c, 'Sample application', content)
}

/** The documentation on one page: every operation with a form to try it. */
export function docsPage(c: Context, { info, paths, servers }: Description) {
  const base = servers?.[0]?.url ?? ''
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
      const answers = Object.entries(operation.responses).map(
        ([status, { description }]) => `${status} ${description}`,
      )
      const heading = html`<span class="accent">${method.toUpperCase()}</span> <code>${path}</code>`
      const sent = method === 'post' && html`method="post" enctype="${type}"`
      const form = html`<form class="try" data-method="${method}" action="${base}${path}" ${sent}>
${fieldsOf(operation).map(input)}<p><button>Try it</button></p>
<output></output>
</form>
<p class="quiet">Answers: ${answers.join(', ')}</p>`
      return card(operation.operationId, heading, form)
    }),
  )
  const content = html`<p class="lead">${info.description}</p>
${operations}
<p>Described in full by <a href="${base}/openapi.json">openapi.json</a>.</p>`
  return page(c, info.title, content)
}

/** What a form asks for: parameters, who is asking, the fields of a form or a JSON body. */
function fieldsOf({ parameters = [], requestBody, security }: Operation) {
  const fields: Parameter[] = [...parameters]
  const add = (place: string, name: string, schema: Schema, required = true) =>
    fields.push({ name, in: place, required, schema })
  if (security) add('header', 'Authorization', { default: 'Bearer johndoe' }, false)
  for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
    const { properties = {}, required = [] } = schema as FormSchema
    for (const [name, one] of Object.entries(properties)) {
      add('form', name, one, required.includes(name))
    }
    if (type.endsWith('json')) add('body', 'body', { default: JSON.stringify(example) })
  }
  return fields
}

function input({ name, in: place, required, deprecated, schema }: Parameter) {
  const { title, default: given = '' } = schema
  const attributes = html`name="${name}" data-in="${place}" ${place === 'path' && 'required'}`
  const type = schema.contentMediaType ? 'file' : 'text'
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
