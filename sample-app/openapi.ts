import { STATUS_CODES } from 'node:http'
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { entriesOf, type Inputs, inputsOf, type Source } from './ask/ask.ts'
import { HTTPValidationError, ValidationProblem } from './examples/errors.ts'
import type { Example } from './examples.ts'

export type About = Pick<Example, 'name' | 'about'>
/** A schema in the dialect of OpenAPI 3.1; plain JSON. */
export type Schema = { readonly [keyword: string]: unknown }
/** One method of one path, and one value that is not part of its body. */
export type Operation = ReturnType<typeof describeOperation>
export type Parameter = ReturnType<typeof describeParameters>[number]
/** An OpenAPI 3.1 document. */
export type Description = ReturnType<typeof describe>
type Named = Record<string, v.GenericSchema>

const OK = v.pipe(v.unknown(), v.description('Successful Response'))
const SCHEMAS = '#/components/schemas/'

/** Describes apps at a base path by what their routes ask for; of two alike the first counts. */
export function describe({ name, about }: About, apps: readonly Example['app'][], base: string) {
  const named: Named = { ValidationError: ValidationProblem, HTTPValidationError }
  const securitySchemes: Record<string, object> = {}
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { routes } of apps) {
    const shared = inputsOf(routes.filter(({ method }) => method === 'ALL'))
    for (const { path, method } of routes) {
      const [template, verb] = [path.replace(/:([\w-]+)(?:\{.*\})?/g, '{$1}'), method.toLowerCase()]
      if (method === 'ALL' || paths[template]?.[verb]) continue
      const own = routes.filter(one => one.path === path && one.method === method)
      const inputs = [...inputsOf(own), ...shared]
      const id = [verb, ...(template.match(/\w+/g) ?? [])].join('_')
      Object.assign(securitySchemes, ...inputs.map(({ security }) => security))
      paths[template] = { ...paths[template], [verb]: describeOperation(id, inputs, named) }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: name, description: about, version: '1.0.0' },
    ...(base !== '/' && { servers: [{ url: base.slice(0, -1) }] }),
    paths,
    components: { schemas: toJsonSchemaDefs(named, CONVERSION), securitySchemes },
  }
}

function describeOperation(operationId: string, inputs: readonly Inputs[], named: Named) {
  const sources = ['path', 'query', 'header', 'cookie'] as const
  const parameters = sources.flatMap(source => describeParameters(source, inputs))
  const content = describeBody(inputs, named)
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

function describeParameters(source: Source, inputs: readonly Inputs[]) {
  return entriesOf(source, inputs).map(({ name, schema: entry }) => {
    const title = name.replaceAll('_', ' ').replace(/\b[a-z]/gi, letter => letter.toUpperCase())
    // `alias` and `also` are for `ask`. A default of null only says that it is optional.
    const { alias: _, also: __, default: given, ...rest } = jsonSchema(entry)
    const schema: Schema = { title, ...rest, ...((given ?? null) !== null && { default: given }) }
    const required = source === 'path' || !v.is(entry, undefined)
    const deprecated = schema.deprecated === true && { deprecated: true }
    return { name, in: String(source), required, ...deprecated, schema }
  })
}

/** A form of all fields that are asked for, or the JSON body. */
function describeBody(inputs: readonly Inputs[], named: Named) {
  const fields = entriesOf('form', inputs)
  const [body] = inputs.flatMap(one => one.body ?? [])
  if (fields.length === 0) return body && contentOf(body, named)
  const isUpload = fields.some(({ type }) => type === 'instance')
  const form = v.object(Object.fromEntries(fields.map(({ name, schema }) => [name, schema])))
  const type = isUpload ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  return contentOf(v.pipe(form, v.metadata({ contentMediaType: type })), named)
}

/** A schema with a title stands under its name, and is referred to. */
function contentOf(schema: v.GenericSchema, named: Named) {
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
