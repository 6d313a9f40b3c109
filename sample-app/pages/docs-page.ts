import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Description, Operation, Parameter, Schema } from '../openapi.ts'
import { page } from './page.ts'

/** The documentation on one page: every operation with a form to try it, and the schemas. */
export function docsPage(c: Context, { info, paths, servers, components }: Description) {
  const base = servers?.[0]?.url ?? ''
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const fields = fieldsOf(operation, components.schemas)
      const answers = Object.entries(operation.responses)
      const type = Object.keys(operation.requestBody?.content ?? {})[0] ?? ''
      return html`<section class="card" id="${operation.operationId}">
<h2><span class="accent">${method.toUpperCase()}</span> <code>${path}</code></h2>
<form class="try" data-method="${method}" action="${base}${path}"
${method === 'post' ? html`method="post" enctype="${type}"` : ''}>
${fields.map(input)}<p><button>Try it</button></p>
<output></output>
</form>
<p class="quiet">Answers: ${answers.map(([status, one]) => `${status} ${one.description}`).join(', ')}</p>
</section>
`
    }),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => html`<details><summary>${name}</summary>
<pre>${JSON.stringify(schema, null, 2)}</pre></details>
`,
  )
  const content = html`<h1>${info.title}</h1>
<p class="lead">${info.description}</p>
${operations}
<h2>Schemas</h2>
${schemas}
<p>Described in full by <a href="${base}/openapi.json">openapi.json</a>.</p>`
  return page(c, `${info.title} – documentation`, content)
}

/** What a form asks for: parameters, who is asking, the fields of a form or a JSON body. */
function fieldsOf({ parameters = [], requestBody, security }: Operation, schemas: Schemas) {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? ['', undefined]
  const reference = String(content?.schema.$ref).split('/')[3] ?? ''
  const { properties = {}, required = [] } = (schemas[reference] ?? {}) as Body
  const members = Object.entries(properties).map(([name, schema]): Parameter => {
    return { name, in: 'form', required: required.includes(name), schema }
  })
  const samples = members.map(({ name, schema }) => {
    return [
      name,
      schema.default ?? (schema.anyOf ? null : schema.type === 'number' ? 50.2 : 'text'),
    ]
  })
  const body = JSON.stringify(Object.fromEntries(samples), null, 2)
  const json = { name: 'body', in: 'body', required: true, schema: { default: body } }
  const bearer = { default: 'Bearer johndoe' }
  const login = { name: 'Authorization', in: 'header', required: false, schema: bearer }
  const rest = type.endsWith('json') ? [json] : members
  return [...parameters, ...(security ? [login] : []), ...rest]
}

type Schemas = Readonly<Record<string, Schema>>
type Body = { readonly properties?: Schemas; readonly required?: readonly string[] }

function input({ name, in: place, required, deprecated, schema }: Parameter) {
  const [first = schema] = (schema.anyOf ?? []) as Schema[]
  const given = schema.default ?? ''
  const words = [place, required && 'required', inWords(schema)].filter(Boolean)
  const attributes = html`name="${name}" data-in="${place}" ${place === 'path' ? 'required' : ''}`
  const type = schema.contentMediaType ? 'file' : 'text'
  const isLong = place === 'body' || first.type === 'array'
  const code = html`<code>${name}</code>`
  return html`<label>${deprecated ? html`<s>${code}</s> deprecated` : code}
<span class="quiet">${words.join(', ')}</span>
${isLong ? html`<textarea rows="${place === 'body' ? 6 : 2}" ${attributes}>${given}</textarea>` : html`<input type="${type}" value="${given}" ${attributes}>`}</label>
`
}

/** `Query string, string, maxLength 50, or null`. */
function inWords({ title, type, anyOf, deprecated: _, default: __, ...rules }: Schema): string {
  const kinds = Array.isArray(anyOf) ? anyOf.map(inWords).join(', or ') : type
  const words = Object.entries(rules).map(([name, value]) => {
    return `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`
  })
  return [title, kinds, ...words].filter(Boolean).join(', ')
}
