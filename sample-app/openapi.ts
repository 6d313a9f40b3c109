import { STATUS_CODES } from 'node:http'
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import * as v from 'valibot'
import { declared } from './valid/valid.ts'

/** A schema in the dialect of OpenAPI 3.1; plain JSON. */
export type Schema = { readonly [keyword: string]: unknown }
type Schemas = Record<string, Schema>
type Entries = Record<string, v.GenericSchema>
/** By method and path, as `GET /items/:item_id`: answers but 422, and proofs of who is asking. */
export type Documents = Record<string, Document>
type Document = { answers?: Entries; security?: Record<string, object> }
type About = { readonly name: string; readonly about: string }
type App = { readonly app: Hono; readonly documents: Documents | undefined }
type Part = { readonly target: string; readonly schema: v.GenericSchema & { entries?: Entries } }
/** One method of one path, one value that is not part of its body, and an OpenAPI 3.1 document. */
export type Operation = ReturnType<typeof describeOperation>
export type Parameter = ReturnType<typeof describeParameter>
export type Description = ReturnType<typeof describe>

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const REFUSED = {
  description: 'Validation Error',
  content: { 'application/json': { schema: ref('HTTPValidationError') } },
}
const PLACE = { anyOf: [{ type: 'string' }, { type: 'integer' }] }
const PROBLEM = {
  loc: { title: 'Location', type: 'array', items: PLACE },
  msg: { title: 'Message', type: 'string' },
  type: { title: 'Error Type', type: 'string' },
  input: {},
  ctx: { type: 'object' },
}
const DETAIL = { type: 'array', items: ref('ValidationError') }
const SCHEMAS: Schemas = {
  ValidationError: { type: 'object', properties: PROBLEM, required: ['loc', 'msg', 'type'] },
  HTTPValidationError: { type: 'object', properties: { detail: DETAIL } },
}

/** Describes apps at a base path by their routes' checks; the first of two equal routes counts. */
export function describe({ name: title, about: description }: About, apps: App[], base: string) {
  const [schemas, securitySchemes] = [{ ...SCHEMAS }, {}]
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { app, documents = {} } of apps) {
    for (const { path, method } of app.routes) {
      const [template, verb] = [path.replace(/:([\w-]+)(?:\{.*\})?/g, '{$1}'), method.toLowerCase()]
      if (method === 'ALL' || /\*/.test(template) || paths[template]?.[verb]) continue
      const own = app.routes.filter(route => route.path === path && route.method === method)
      const global = app.routes.filter(route => route.path === '/*' && route.method === 'ALL')
      const handlers = [...own, ...global].map(({ handler }) => findTargetHandler(handler))
      const parts = handlers.flatMap(handler => (declared.get(handler) ?? []) as Part)
      const document = documents[`${method} ${path}`] ?? {}
      Object.assign(securitySchemes, document.security)
      const operation = describeOperation(`${verb} ${template}`, parts, document, schemas)
      paths[template] = { ...paths[template], [verb]: operation }
    }
  }
  const components = { schemas, securitySchemes }
  const servers = base !== '/' && { servers: [{ url: base.slice(0, -1) }] }
  const info = { title, description, version: '1.0.0' }
  return { openapi: '3.1.0', info, ...servers, paths, components }
}

function describeOperation(route: string, parts: Part[], document: Document, schemas: Schemas) {
  // What the path names is text if nothing checks it.
  const names = [...route.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => [name, v.string()])
  const inPath: Part = { target: 'param', schema: v.object(Object.fromEntries(names)) }
  const parameters = ['param', 'query', 'header', 'cookie'].flatMap(place => {
    const found = [inPath, ...parts].filter(({ target }) => target === place)
    const entries = found.flatMap(({ schema }) => Object.entries(schema.entries ?? {}))
    return [...new Map(entries)].map(([name, entry]) => describeParameter(place, name, entry))
  })
  const body = parts.find(({ target }) => /json|form/.test(target))
  const content = body && contentOf(body.schema, schemas, body.target)
  const { answers, security = {} } = document
  const responses = Object.entries(answers ?? { 200: v.unknown() }).map(([status, schema]) => {
    const description = (answers ? STATUS_CODES[status] : 'Successful Response') ?? ''
    const content = schema.type !== 'void' && { content: contentOf(schema, schemas) }
    return [status, { description, ...content }] as const
  })
  const schemes = Object.keys(security).map(scheme => ({ [scheme]: [] }))
  return {
    operationId: route.match(/\w+/g)?.join('_') ?? '',
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...Object.fromEntries(responses), ...(parts.length > 0 && { 422: REFUSED }) },
    ...(schemes.length > 0 && { security: schemes }),
  }
}

function describeParameter(target: string, name: string, entry: v.GenericSchema) {
  const title = name.replaceAll('_', ' ').replace(/\b[a-z]/gi, letter => letter.toUpperCase())
  const { $schema: _, default: __, ...rest } = toJsonSchema(entry, CONVERSION)
  // A default of null only says that it is optional.
  const absent = v.safeParse(entry, undefined)
  const hasDefault = (absent.output ?? null) !== null
  const schema: Schema = { title, ...rest, ...(hasDefault && { default: absent.output }) }
  const required = target === 'param' || !absent.success
  const deprecated = schema.deprecated === true && { deprecated: true }
  return { name, in: target.replace('param', 'path'), required, ...deprecated, schema }
}

/** A schema with a title stands under its name, and is referred to. A form may have a file. */
function contentOf(schema: v.GenericSchema, schemas: Schemas, target?: string) {
  const title = v.getTitle(schema)
  const { $schema: _, contentMediaType: media, ...rest } = toJsonSchema(schema, CONVERSION)
  const isUpload = JSON.stringify(rest).includes('octet-stream')
  const form = isUpload ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  if (title) schemas[title] = rest
  const [example] = v.getExamples(schema) as readonly unknown[]
  const shown: Schema = title ? ref(title) : rest
  const type = target === 'form' ? form : String(media ?? 'application/json')
  return { [type]: { schema: shown, example } }
}

/** Schemas that Valibot's own conversion does not know, or describes as sent text. */
const CONVERSION: ConversionConfig = {
  errorMode: 'ignore',
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
