import { STATUS_CODES } from 'node:http'
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { RouterRoute } from 'hono/types'
import * as v from 'valibot'
import { declarations, describeEntry, flatten, type Inputs, type Source } from './ask/ask.ts'
import { HTTPValidationError, ValidationProblem } from './examples/errors.ts'
import type { Example } from './examples.ts'

export type About = Pick<Example, 'name' | 'about'>
/** A schema in the dialect of OpenAPI 3.1; plain JSON. */
export type Schema = { readonly [keyword: string]: unknown }
/** One method of one path, and one value that is not part of its body. */
export type Operation = ReturnType<typeof describeOperation>
export type Parameter = ReturnType<typeof describeValue>
/** An OpenAPI 3.1 document. */
export type Description = ReturnType<typeof describe>
type Named = Record<string, v.GenericSchema>

const OK = v.pipe(v.unknown(), v.description('Successful Response'))
const SCHEMAS = '#/components/schemas/'

/**
 * Describes apps from what their routes ask for; of two that answer the same, the first counts.
 * @param base where they are mounted, with a slash at its end; clients resolve the paths against it
 */
export function describe({ name, about }: About, apps: readonly Example['app'][], base: string) {
  const named: Named = { ValidationError: ValidationProblem, HTTPValidationError }
  const securitySchemes: Record<string, object> = {}
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { routes } of apps) {
    const asks = ({ handler }: RouterRoute) => declarations.get(handler) ?? []
    const shared = flatten(routes.filter(({ method }) => method === 'ALL').flatMap(asks))
    for (const { path, method, handler } of routes) {
      const [template, verb] = [path.replace(/:([\w-]+)(?:\{.*\})?/g, '{$1}'), method.toLowerCase()]
      if (method === 'ALL' || declarations.has(handler) || paths[template]?.[verb]) continue
      const own = routes.filter(one => one.path === path && one.method === method).flatMap(asks)
      const inputs = [...flatten(own), ...shared]
      const id = [verb, ...(template.match(/\w+/g) ?? [])].join('_')
      Object.assign(securitySchemes, ...inputs.map(({ security }) => security))
      paths[template] = { ...paths[template], [verb]: describeOperation(id, inputs, named) }
    }
  }
  const schemas: Record<string, Schema> = {}
  for (const [title, one] of Object.entries(toJsonSchemaDefs(named, CONVERSION))) {
    schemas[title] = titled(title, one as Schema)
  }
  return {
    openapi: '3.1.0',
    info: { title: name, description: about, version: '1.0.0' },
    ...(base !== '/' && { servers: [{ url: base.slice(0, -1) }] }),
    paths,
    components: { schemas, securitySchemes },
  }
}

function describeOperation(operationId: string, inputs: readonly Inputs[], named: Named) {
  const entriesOf = (source: Source) => inputs.flatMap(one => Object.entries(one[source] ?? {}))
  const parameters = (['path', 'query', 'header', 'cookie'] as const).flatMap(source =>
    entriesOf(source).map(([key, schema]) => describeValue(source, key, schema)),
  )
  const fields = entriesOf('form').map(([key, schema]) => {
    return { ...describeEntry('form', key, schema), schema }
  })
  const isUpload = fields.some(({ type }) => type === 'instance')
  const formType = isUpload ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  const form = v.object(Object.fromEntries(fields.map(({ name, schema }) => [name, schema])))
  const [body] = inputs.flatMap(one => one.body ?? [])
  const content =
    fields.length > 0
      ? contentOf(v.pipe(form, v.title(`Body_${operationId}`)), named, formType)
      : body && contentOf(body, named)
  const checks = content || parameters.length > 0 ? { 422: HTTPValidationError } : {}
  const answers: Named = Object.assign({ 200: OK }, checks, ...inputs.map(one => one.answers))
  const responses = Object.entries(answers).map(([status, schema]) => {
    const description = v.getDescription(schema) ?? STATUS_CODES[status] ?? ''
    return [status, { description, content: contentOf(schema, named) }] as const
  })
  const security = inputs.flatMap(one => Object.keys(one.security ?? {}))
  return {
    operationId,
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: Object.fromEntries(responses),
    ...(security.length > 0 && { security: security.map(scheme => ({ [scheme]: [] })) }),
  }
}

function describeValue(source: string, key: string, value: v.GenericSchema) {
  const { name } = describeEntry(source, key, value)
  const schema = titled(name, toJsonSchema(value, CONVERSION) as Schema)
  const required = source === 'path' || !v.is(value, undefined)
  const deprecated = schema.deprecated === true && { deprecated: true }
  return { name, in: source, required, ...deprecated, schema }
}

/** A schema with a title stands under its name, and is referred to. */
function contentOf(schema: v.GenericSchema, named: Named, type = 'application/json') {
  const title = v.getTitle(schema)
  if (title) named[title] = schema
  const { description: _, $schema: __, ...json } = toJsonSchema(schema, CONVERSION) as Schema
  const { contentMediaType = type, ...rest } = json
  return { [String(contentMediaType)]: { schema: title ? { $ref: SCHEMAS + title } : rest } }
}

/** Adds a title made of the name; leaves out what only `ask` reads, and null as a default. */
function titled(name: string, schema: Schema): Schema {
  const { $schema: _, alias: __, also: ___, default: given, properties = {}, ...json } = schema
  const title = name.replaceAll('_', ' ').replace(/\b[a-z]/gi, letter => letter.toUpperCase())
  const members = Object.entries(properties as Record<string, Schema>)
  return {
    title,
    ...json,
    ...(given !== null && given !== undefined && { default: given }),
    ...(members.length > 0 && {
      properties: Object.fromEntries(members.map(([key, one]) => [key, titled(key, one)])),
    }),
  }
}

/** What Valibot's own conversion does not know: code points, and where schemas stand here. */
const CONVERSION: ConversionConfig = {
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => SCHEMAS + referenceId,
  overrideAction: ({ valibotAction: { type, ...rest }, jsonSchema }) => {
    const { requirement } = rest as { requirement?: number }
    if (type === 'min_code_points') return { ...jsonSchema, minLength: requirement }
    return type === 'max_code_points' ? { ...jsonSchema, maxLength: requirement } : undefined
  },
}
