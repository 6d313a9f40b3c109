import { STATUS_CODES } from 'node:http'
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import * as v from 'valibot'
import { declared } from './valid/valid.ts'

/** A document's own name. */
export type About = { readonly name: string; readonly about: string }
/** A schema in the dialect of OpenAPI 3.1; plain JSON. */
export type Schema = { readonly [keyword: string]: unknown }
/** One method of one path, and one value that is not part of its body. */
export type Operation = ReturnType<typeof describeOperation>
export type Parameter = ReturnType<typeof describeParameter>
/** An OpenAPI 3.1 document. */
export type Description = ReturnType<typeof describe>
type SchemasByName = Record<string, v.GenericSchema>
type ObjectSchema = v.GenericSchema & { readonly entries?: SchemasByName }
type Part = { readonly target: string; readonly schema: ObjectSchema }
/** All answers but 422, by status, and proofs of who is asking, by name. */
type Document = { answers?: SchemasByName; security?: Record<string, object> }
/** By method and path, as `GET /items/:item_id`. */
export type Documents = Readonly<Record<string, Document>>
type Route = Document & { readonly parts: readonly Part[] }
type App = { readonly app: Hono; readonly documents?: Documents }

const OK = v.pipe(v.unknown(), v.description('Successful Response'))
const SCHEMAS = '#/components/schemas/'
const ValidationError = v.object({
  loc: v.pipe(v.array(v.union([v.string(), v.pipe(v.number(), v.integer())])), v.title('Location')),
  msg: v.pipe(v.string(), v.title('Message')),
  type: v.pipe(v.string(), v.title('Error Type')),
  input: v.optional(v.unknown()),
  ctx: v.optional(v.looseObject({})),
})
const HTTPValidationError = v.pipe(
  v.object({ detail: v.optional(v.array(ValidationError)) }),
  v.title('HTTPValidationError'),
  v.description('Validation Error'),
)

/** Describes apps at a base path by their routes' checks; the first of two equal routes counts. */
export function describe(about: About, apps: readonly App[], base: string) {
  const named: SchemasByName = { ValidationError, HTTPValidationError }
  const securitySchemes = {}
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { app, documents = {} } of apps) {
    for (const { path, method } of app.routes) {
      const [template, verb] = [path.replace(/:([\w-]+)(?:\{.*\})?/g, '{$1}'), method.toLowerCase()]
      if (method === 'ALL' || /\*/.test(template) || paths[template]?.[verb]) continue
      const own = app.routes.filter(route => route.path === path && route.method === method)
      const global = app.routes.filter(route => route.path === '/*' && route.method === 'ALL')
      const handlers = [...own, ...global].map(({ handler }) => findTargetHandler(handler))
      const parts = handlers.flatMap(handler => (declared.get(handler) ?? []) as Part)
      const route = { ...documents[`${method} ${path}`], parts }
      Object.assign(securitySchemes, route.security)
      const operation = describeOperation(template, verb, route, named)
      paths[template] = { ...paths[template], [verb]: operation }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: about.name, description: about.about, version: '1.0.0' },
    ...(base !== '/' && { servers: [{ url: base.slice(0, -1) }] }),
    paths,
    components: { schemas: toJsonSchemaDefs(named, CONVERSION), securitySchemes },
  }
}

function describeOperation(path: string, verb: string, route: Route, named: SchemasByName) {
  const { parts, answers = { 200: OK }, security = {} } = route
  const inPath = [...path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => [name, v.string()])
  const plain: Part = { target: 'param', schema: v.object(Object.fromEntries(inPath)) }
  const checked = parts.some(({ target }) => target === 'param') ? parts : [plain, ...parts]
  const parameters = ['param', 'query', 'header', 'cookie'].flatMap(target =>
    checked
      .flatMap(part => (part.target === target ? Object.entries(part.schema.entries ?? {}) : []))
      .map(([name, entry]) => describeParameter(target, name, entry)),
  )
  const content = describeBody(parts, named)
  const all: SchemasByName = { ...answers, ...(parts.length > 0 && { 422: HTTPValidationError }) }
  const responses = Object.entries(all).map(([status, schema]) => {
    const description = v.getDescription(schema) ?? STATUS_CODES[status] ?? ''
    const content = schema.type !== 'void' && { content: contentOf(schema, named) }
    return [status, { description, ...content }] as const
  })
  const schemes = Object.keys(security).map(scheme => ({ [scheme]: [] }))
  return {
    operationId: [verb, ...(path.match(/\w+/g) ?? [])].join('_'),
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: Object.fromEntries(responses),
    ...(schemes.length > 0 && { security: schemes }),
  }
}

function describeParameter(target: string, name: string, entry: v.GenericSchema) {
  const title = name.replaceAll('_', ' ').replace(/\b[a-z]/gi, letter => letter.toUpperCase())
  const { default: _, ...rest } = jsonSchema(entry)
  // A default of null only says that it is optional.
  const absent = v.safeParse(entry, undefined)
  const hasDefault = (absent.output ?? null) !== null
  const schema: Schema = { title, ...rest, ...(hasDefault && { default: absent.output }) }
  const required = target === 'param' || !absent.success
  const place = target === 'param' ? 'path' : target
  const deprecated = schema.deprecated === true && { deprecated: true }
  return { name, in: place, required, ...deprecated, schema }
}

/** The JSON body, or the form, which is multipart if it has a file. */
function describeBody(parts: readonly Part[], named: SchemasByName) {
  const body = parts.find(({ target }) => /json|form/.test(target))
  if (body?.target !== 'form') return body && contentOf(body.schema, named)
  const isUpload = JSON.stringify(jsonSchema(body.schema)).includes('octet-stream')
  const contentMediaType = isUpload ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  return contentOf(v.pipe(body.schema, v.metadata({ contentMediaType })), named)
}

/** A schema with a title stands under its name, and is referred to. */
function contentOf(schema: v.GenericSchema, named: SchemasByName) {
  const title = v.getTitle(schema)
  if (title) named[title] = schema
  const { description: _, contentMediaType: type, ...rest } = jsonSchema(schema)
  const [example] = v.getExamples(schema) as readonly unknown[]
  const content = { schema: title ? { $ref: SCHEMAS + title } : rest, example }
  return { [String(type ?? 'application/json')]: content }
}

function jsonSchema(schema: v.GenericSchema): Schema {
  const { $schema: _, ...rest } = toJsonSchema(schema, CONVERSION)
  return rest
}

/** Schemas that Valibot's own conversion does not know, or describes as sent text. */
const CONVERSION: ConversionConfig = {
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => SCHEMAS + referenceId,
  overrideSchema: ({ valibotSchema: { type }, jsonSchema }) => {
    if (type === 'file') return { type: 'string', contentMediaType: 'application/octet-stream' }
    // Alternatives that are one to the reader: a number, or a text that is one.
    const kinds = new Set(jsonSchema.anyOf?.map(schema => JSON.stringify(schema)))
    return type === 'union' && kinds.size === 1 ? JSON.parse([...kinds].join()) : undefined
  },
  overrideAction: ({ valibotAction: { type, ...rest }, jsonSchema }) => {
    const { requirement } = rest as { requirement?: number }
    if (type === 'min_code_points') return { ...jsonSchema, minLength: requirement }
    if (type === 'max_code_points') return { ...jsonSchema, maxLength: requirement }
    if (type === 'safe_integer') return { type: 'integer' }
    if (type === 'to_number') return { type: 'number' }
    return type === 'parse_boolean' ? { type: 'boolean' } : undefined
  },
}
