import { toJsonSchema } from '@valibot/to-json-schema'
import type { Registry } from '../../../generator/index.ts'
import type { OpenHandler, Route } from '../../access/route.ts'
import { answerText } from '../../http/answer.ts'
import { crateShape } from '../schema/crate.ts'
import { dependencyShape, versionShape } from '../schema/version.ts'
import {
  type Content,
  failureAnswer,
  type Operation,
  operations,
  type Schema,
} from './operations.ts'

/** Schemas that several answers share. */
const definitions: Record<string, Schema> = {
  Crate: crateShape,
  Version: versionShape,
  Dependency: dependencyShape,
  Failure: failureAnswer,
}

/** `GET /api/openapi.json`: OpenAPI 3.1, from the route table and the schemas of the handlers. */
export function openApi({ settings, urls }: Registry, routes: () => readonly Route[]): OpenHandler {
  let document: string | null = null
  return c => {
    const { title } = settings.registry
    document ??= JSON.stringify(openApiDocument(title, urls.api ?? urls.base, routes()))
    return answerText(c, document, 'application/json')
  }
}

/** The routes that are operations, with who may take them. */
function openApiDocument(title: string, server: string, routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const operation = operations[`${route.method} ${path}`]
    if (!operation) continue
    const described = describe(path, operation, route.access)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described }
  }
  const description =
    'The web API of a Cargo registry. A failure has the body `{"errors":[{"detail":…}]}` whatever its status; clients decide by the body.'
  const schemas = Object.entries(definitions).map(([name, one]) => [name, jsonSchema(one, name)])
  const token = { type: 'apiKey', in: 'header', name: 'Authorization' }
  return {
    openapi: '3.1.0',
    info: { title, version: 'v1', description },
    servers: [{ url: server }],
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { token: { ...token, description: 'The token alone, no scheme' } },
    },
  }
}

function describe(path: string, operation: Operation, access: Route['access']): object {
  return {
    summary: operation.summary,
    ...(Array.isArray(access) && {
      description: `Needs a token with the scope ${access.map(one => `\`${one}\``).join(' or ')}.`,
    }),
    security: access === 'open' ? [] : access === 'reader' ? [{}, { token: [] }] : [{ token: [] }],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
        return { name, in: 'path', required: true, schema: { type: 'string' } }
      }),
      ...Object.entries(operation.query?.entries ?? {}).map(([name, schema]) => {
        return { name, in: 'query', required: false, schema: jsonSchema(schema as Schema) }
      }),
    ],
    ...(operation.body && { requestBody: { required: true, ...content(operation.body) } }),
    responses: {
      200: {
        description: 'Success, or a failure that Cargo decides by its body',
        ...content(operation.answer),
      },
      default: { description: 'A failure', ...content(failureAnswer) },
    },
  }
}

function content(one: Schema | Content): object {
  if (!('contentType' in one))
    return { content: { 'application/json': { schema: jsonSchema(one) } } }
  const { contentType, ...schema } = one
  return { content: { [contentType]: { schema: { type: 'string', ...schema } } } }
}

/** `self`: the name under which this very schema is defined. */
function jsonSchema(schema: Schema, self?: string): object {
  const others = Object.fromEntries(Object.entries(definitions).filter(([name]) => name !== self))
  const overrideRef = ({ referenceId }: { readonly referenceId: string }) =>
    `#/components/schemas/${referenceId}`
  const config = { typeMode: 'output', definitions: others, overrideRef } as const
  const { $schema: _dialect, $defs: _shared, ...rest } = toJsonSchema(schema, config)
  return rest
}
