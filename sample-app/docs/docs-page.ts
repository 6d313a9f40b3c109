import type { Context } from 'hono'
import { html } from 'hono/html'
import type { JsonSchema } from '../input/kind.ts'
import type { SampleEnv } from '../wire/target.ts'
import type { Description, OperationObject, ParameterObject } from './openapi.ts'
import { type Html, page } from './page.ts'

/** The documentation as one page that needs no network: every operation, its parameters, its body and its answers. */
export function renderDocs(context: Context<SampleEnv>, description: Description): Response | Promise<Response> {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation)),
  )
  const schemas = Object.entries(description.components.schemas).map(
    ([name, schema]) => html`<h2 id="schema-${name}">${name}</h2>\n<pre>${pretty(schema)}</pre>\n`,
  )
  return page(
    context,
    `${description.info.title} – documentation`,
    html`<h1>${description.info.title}</h1>
<p>Described in full by <a href="openapi.json">openapi.json</a> (OpenAPI ${description.openapi}).</p>
${operations}
<h1>Schemas</h1>
${schemas}`,
  )
}

function renderOperation(method: string, path: string, operation: OperationObject): Html {
  const schemes = (operation.security ?? []).flatMap(Object.keys)
  return html`<section id="${operation.operationId}">
<h2><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h2>
${schemes.length > 0 ? html`<p>Needs ${schemes.join(', ')}.</p>` : ''}
${operation.parameters ? renderParameters(operation.parameters) : ''}
${Object.entries(operation.requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<p>Body: <code>${type}</code></p>\n<pre>${pretty(schema)}</pre>\n`,
)}
<p>Answers: ${Object.entries(operation.responses)
    .map(([status, response]) => `${status} ${response.description}`)
    .join(', ')}</p>
</section>
`
}

function renderParameters(parameters: readonly ParameterObject[]): Html {
  return html`<table>
<thead><tr><th>Name</th><th>In</th><th>Required</th><th>Value</th></tr></thead>
<tbody>
${parameters.map(
  one => html`<tr>
<td>${one.deprecated ? html`<s title="deprecated"><code>${one.name}</code></s> deprecated` : html`<code>${one.name}</code>`}</td>
<td>${one.in}</td>
<td>${one.required ? 'yes' : 'no'}</td>
<td>${inWords(one.schema)}</td>
</tr>
`,
)}</tbody>
</table>`
}

/** `Query string: string, maxLength 50, or null`. */
function inWords({ title, deprecated: _, anyOf, type, ...keywords }: JsonSchema): string {
  const alternatives = Array.isArray(anyOf) ? anyOf.map(inWords).join(', or ') : String(type)
  const rules = Object.entries(keywords).map(([name, value]) => {
    return `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`
  })
  return `${title === undefined ? '' : `${title}: `}${[alternatives, ...rules].join(', ')}`
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
