import type { Credential, Declared, Model, Parameter } from '../input/input.ts'
import type { JsonSchema } from '../input/kind.ts'
import { flatten, type Operation, parametersOf } from '../operation.ts'

/** An OpenAPI 3.1 document; plain JSON. */
export interface Description {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Schemas; readonly securitySchemes: Readonly<Record<string, JsonSchema>> }
}

/** One method of one path. */
export interface OperationObject {
  readonly operationId: string
  readonly parameters?: readonly ParameterObject[]
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, { schema: JsonSchema }>> }
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

/** One parameter that is not part of the body. */
export interface ParameterObject {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly deprecated?: true
  readonly schema: JsonSchema
}

type Schemas = Readonly<Record<string, JsonSchema>>

const SOURCES = ['path', 'query', 'header', 'cookie']

/**
 * Describes an application from the declarations its routes are made of.
 * @param base where it is mounted; clients resolve the paths against it
 */
export function describe(title: string, operations: readonly Operation[], base = ''): Description {
  const paths = new Map<string, Record<string, OperationObject>>()
  for (const operation of operations) {
    const path = templatePath(operation.path)
    paths.set(path, { ...paths.get(path), [operation.method.toLowerCase()]: describeOperation(operation) })
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1.0.0' },
    ...(base !== '' && { servers: [{ url: base }] }),
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.assign({}, ...operations.map(schemasOf), VALIDATION_SCHEMAS),
      securitySchemes: Object.fromEntries(
        operations.flatMap(credentialsOf).map(({ scheme, definition }) => [scheme, definition]),
      ),
    },
  }
}

/** `/items/:item_id` and `/file/:file_path{.*}` the way OpenAPI writes them: `/items/{item_id}`, `/file/{file_path}`. */
export function templatePath(path: string): string {
  return path.replace(/:(\w+)(?:\{.*\})?/g, '{$1}')
}

function describeOperation(operation: Operation): OperationObject {
  const all = parametersOf(operation.inputs)
  const parameters = SOURCES.flatMap(source => all.filter(([, one]) => one.source === source)).map(describeParameter)
  const content = contentOf(operation)
  const checked = parameters.length > 0 || content !== undefined
  const security = credentialsOf(operation).map(({ scheme }) => ({ [scheme]: [] }))
  return {
    operationId: operationId(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: {
      200: {
        description: 'Successful Response',
        content: { [operation.produces]: { schema: answerSchema(operation) } },
      },
      ...(checked && { 422: INVALID }),
    },
    ...(security.length > 0 && { security }),
  }
}

/** Any JSON, or a page. */
function answerSchema({ produces }: Operation): JsonSchema {
  return produces === 'text/html' ? { type: 'string' } : {}
}

function describeParameter([name, parameter]: [string, Parameter<unknown>]): ParameterObject {
  return {
    name,
    in: parameter.source,
    required: parameter.source === 'path' || !parameter.default,
    ...(parameter.declaration.deprecated && { deprecated: true }),
    schema: describeValue(name, parameter),
  }
}

/** The schema of one value; one whose default is null may also be null, and null is not shown as a default. */
function describeValue(name: string, { kind, declaration, default: absent }: Declared<unknown>): JsonSchema {
  const own = kind.jsonSchema(declaration)
  const { title = titleOf(name), deprecated } = declaration
  return {
    ...(absent?.value === null ? { anyOf: [own, { type: 'null' }] } : own),
    ...(absent && absent.value !== null && { default: absent.value }),
    title,
    ...(deprecated && { deprecated }),
  }
}

/** `item_id` is `Item Id`, `x-token` is `X-Token`. */
function titleOf(name: string): string {
  return name
    .replaceAll('_', ' ')
    .replace(/[a-z]+/gi, word => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
}

function contentOf(operation: Operation): Record<string, { schema: JsonSchema }> | undefined {
  const model = modelsOf(operation)[0]
  if (model) return { 'application/json': { schema: reference(model.name) } }
  const fields = formOf(operation)
  if (fields.length === 0) return undefined
  const type = fields.some(([, { kind }]) => kind.takes === 'file')
    ? 'multipart/form-data'
    : 'application/x-www-form-urlencoded'
  return { [type]: { schema: reference(formName(operation)) } }
}

function schemasOf(operation: Operation): Schemas {
  const models = modelsOf(operation).map(({ name, fields }) => [name, describeObject(name, Object.entries(fields))])
  const fields = formOf(operation)
  const name = formName(operation)
  return Object.fromEntries(fields.length > 0 ? [...models, [name, describeObject(name, fields)]] : models)
}

function describeObject(title: string, fields: readonly (readonly [string, Declared<unknown>])[]): JsonSchema {
  const required = fields.filter(([, one]) => !one.default).map(([name]) => name)
  return {
    type: 'object',
    title,
    properties: Object.fromEntries(fields.map(([name, one]) => [name, describeValue(name, one)])),
    ...(required.length > 0 && { required }),
  }
}

function modelsOf({ inputs }: Operation): Model<unknown>[] {
  return flatten(inputs).flatMap(([, input]) => (input.role === 'body' ? [input.model] : []))
}

function formOf({ inputs }: Operation): [string, Parameter<unknown>][] {
  return parametersOf(inputs).filter(([, { source }]) => source === 'form')
}

function credentialsOf({ inputs }: Operation): Credential<unknown>[] {
  return flatten(inputs).flatMap(([, input]) => (input.role === 'credential' ? [input] : []))
}

function operationId({ method, path }: Operation): string {
  return [method.toLowerCase(), ...(templatePath(path).match(/\w+/g) ?? [])].join('_')
}

function formName(operation: Operation): string {
  return `Body_${operationId(operation)}`
}

function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

const INVALID = {
  description: 'Validation Error',
  content: { 'application/json': { schema: reference('HTTPValidationError') } },
}

const VALIDATION_SCHEMAS = {
  HTTPValidationError: {
    type: 'object',
    title: 'HTTPValidationError',
    properties: {
      detail: { type: 'array', title: 'Detail', items: reference('ValidationError') },
    },
  },
  ValidationError: {
    type: 'object',
    title: 'ValidationError',
    properties: {
      loc: { type: 'array', title: 'Location', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      msg: { type: 'string', title: 'Message' },
      type: { type: 'string', title: 'Error Type' },
      input: { title: 'Input' },
      ctx: { type: 'object', title: 'Context' },
    },
    required: ['loc', 'msg', 'type'],
  },
}
