import { STATUS_CODES } from 'node:http'
import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import * as v from 'valibot'
import { declared } from './valid/valid.ts'

/** A schema in the dialect of OpenAPI 3.1; plain JSON. */
export type Schema = { readonly [keyword: string]: unknown }
type Schemas = Record<string, v.GenericSchema>
/**
 * What no check shows of a route such as `GET /items/:item_id`: its answers, if not 200 alone, each
 * with a schema, a media type that is not JSON, or nothing; its errors; proofs of who is asking.
 */
export type Documents = Record<string, Document>
type Document = { answers?: Answers; errors?: number[]; security?: Record<string, object> }
type Answers = Record<number, v.GenericSchema | string | undefined>
/** What is said of one example, or of several. */
export type About = { name: string; about: string; source: string; request?: string }
type App = { app: Hono; documents: Documents | undefined }
type Part = { target: string; schema: v.GenericSchema & { entries?: Schemas } }
/** One method of one path, one value that is not part of its body, and an OpenAPI 3.1 document. */
export type Operation = ReturnType<typeof describeOperation>
export type Parameter = ReturnType<typeof describeParameter>
export type Description = ReturnType<typeof describe>

const ValidationError = v.object({
  loc: v.array(v.union([v.string(), v.number()])),
  msg: v.string(),
  type: v.string(),
  input: v.optional(v.unknown()),
  ctx: v.optional(v.record(v.string(), v.unknown())),
})
const PROBLEMS = v.object({ detail: v.array(ValidationError) })
const REFUSED = v.pipe(PROBLEMS, v.title('HTTPValidationError'))
const FAILURE = v.pipe(v.object({ detail: v.string() }), v.title('Failure'))

/** Describes apps at a base path by their routes' checks; the first of two equal routes counts. */
export function describe({ name: title, about: description }: About, apps: App[], base: string) {
  const [named, securitySchemes]: [Schemas, object] = [{ ValidationError }, {}]
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { app, documents = {} } of apps) {
    for (const { path, method } of app.routes) {
      const [template, verb] = [path.replace(/:([\w-]+)(?:\{.*\})?/g, '{$1}'), method.toLowerCase()]
      if (method === 'ALL' || /\*/.test(template) || paths[template]?.[verb]) continue
      const names = [`${method} ${path}`, 'ALL /*']
      const routes = app.routes.filter(route => names.includes(`${route.method} ${route.path}`))
      const handlers = routes.map(({ handler }) => findTargetHandler(handler))
      const parts = handlers.flatMap(handler => declared.get(handler) ?? []) as Part[]
      const document = documents[`${method} ${path}`] ?? {}
      Object.assign(securitySchemes, document.security)
      const operation = describeOperation(`${verb} ${template}`, parts, document, named)
      paths[template] = { ...paths[template], [verb]: operation }
    }
  }
  const components = { schemas: toJsonSchemaDefs(named, CONVERSION), securitySchemes }
  const servers = base !== '/' && { servers: [{ url: base.slice(0, -1) }] }
  const info = { title, description, version: '1.0.0' }
  return { openapi: '3.1.0', info, ...servers, paths, components }
}

function describeOperation(route: string, parts: Part[], document: Document, named: Schemas) {
  // What the path names is text if nothing checks it.
  const names = [...route.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => [name, v.string()])
  const inPath: Part = { target: 'param', schema: v.object(Object.fromEntries(names)) }
  const parameters = ['param', 'query', 'header', 'cookie'].flatMap(place => {
    const matching = [inPath, ...parts].filter(({ target }) => target === place)
    const entries = matching.flatMap(({ schema }) => Object.entries(schema.entries ?? {}))
    return [...new Map(entries)].map(([name, entry]) => describeParameter(place, name, entry))
  })
  const body = parts.find(({ target }) => /json|form/.test(target))
  const sent = body && contentOf(body.schema, named, body.target)
  const { answers = { 200: v.unknown() }, errors = [], security = {} } = document
  const failures = Object.fromEntries(errors.map(status => [status, FAILURE]))
  const all: Answers = { ...answers, ...failures, ...(parts.length > 0 && { 422: REFUSED }) }
  const responses = Object.entries(all).map(([status, schema]) => {
    const content = schema && contentOf(schema, named)
    return [status, { description: STATUS_CODES[status] ?? '', content }] as const
  })
  const schemes = Object.keys(security).map(scheme => ({ [scheme]: [] }))
  return {
    operationId: route.match(/\w+/g)?.join('_') ?? '',
    ...(parameters.length > 0 && { parameters }),
    ...(sent && { requestBody: { required: true, content: sent } }),
    responses: Object.fromEntries(responses),
    ...(schemes.length > 0 && { security: schemes }),
  }
}

function describeParameter(target: string, name: string, entry: v.GenericSchema) {
  const title = name.replaceAll('_', ' ').replace(/\b[a-z]/gi, letter => letter.toUpperCase())
  const absent = v.safeParse(entry, undefined)
  // As it is after the check. A default of null only says that it is optional.
  const schema: Schema = { title, ...converted(entry), default: absent.output ?? undefined }
  const required = target === 'param' || !absent.success
  const { deprecated } = schema
  return { name, in: target.replace('param', 'path'), required, deprecated, schema }
}

/** A schema with a title stands under its name, and is referred to. A form may have a file. */
function contentOf(schema: v.GenericSchema | string, named: Schemas, target?: string) {
  if (typeof schema === 'string') return { [schema]: { schema: { type: 'string' } } }
  const title = v.getTitle(schema)
  if (title) named[title] = schema
  const shown: Schema = title ? { $ref: reference(title) } : converted(schema)
  const isUpload = JSON.stringify(shown).includes('octet-stream')
  const form = isUpload ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  const [example] = v.getExamples(schema) as readonly unknown[]
  return { [target === 'form' ? form : 'application/json']: { schema: shown, example } }
}

const reference = (name: string) => `#/components/schemas/${name}`
const converted = (schema: v.GenericSchema): Schema => ({
  ...toJsonSchemaDefs({ schema }, CONVERSION).schema,
})

/** Schemas that Valibot's own conversion does not know, or describes as sent text. */
const CONVERSION: ConversionConfig = {
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => reference(referenceId),
  overrideSchema: ({ valibotSchema: { type } }) =>
    type === 'file' ? { type: 'string', contentMediaType: 'application/octet-stream' } : undefined,
  overrideAction: ({ valibotAction: { type, ...rest }, jsonSchema }) => {
    const { requirement } = rest as { requirement?: number }
    if (type === 'min_code_points') return { ...jsonSchema, minLength: requirement }
    if (type === 'max_code_points') return { ...jsonSchema, maxLength: requirement }
    if (type === 'safe_integer') return { type: 'integer' }
    if (type === 'to_number' || type === 'finite') return { type: 'number' }
    return type === 'parse_boolean' ? { type: 'boolean' } : undefined
  },
}
