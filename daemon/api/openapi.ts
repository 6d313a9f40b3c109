import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { Registry } from '../../generator/registry/registry.ts'
import type { OpenHandler, Route } from '../access/route.ts'
import { answerText } from '../http/answer.ts'
import { dependencyShape } from './dependency-schema.ts'
import * as downloads from './download-schema.ts'
import * as schema from './schema.ts'
import { searchAnswer, searchQuery } from './search-schema.ts'
import {
  configBodies,
  configQuery,
  exchangeBody,
  PROVIDERS,
  type Provider,
  patchBody,
} from './trusted-schema.ts'
import { deprecationBody, yankBody } from './yank-schema.ts'

/** The body of every failure of the API, whatever its status (specification A.7). */
const failureAnswer = v.object({ errors: v.array(v.object({ detail: v.string() })) })

const definitions: Record<string, Schema> = {
  Crate: schema.crateShape,
  Version: schema.versionShape,
  Dependency: dependencyShape,
  Failure: failureAnswer,
}

/** `GET /api/openapi.json`: OpenAPI 3.1, generated from the route table and handler schemas. */
export function openApi({ settings, urls }: Registry, routes: () => readonly Route[]): OpenHandler {
  let document: string | null = null
  return c => {
    const { title } = settings.registry
    document ??= JSON.stringify(openApiDocument(title, urls.api ?? urls.base, routes()))
    return answerText(c, document, 'application/json')
  }
}

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
    'The web API of a Cargo registry. A failure has the body `{"errors":[{"detail":…}]}` whatever its status; clients must check the body.'
  const schemas = Object.entries(definitions).map(([name, schema]) => [
    name,
    jsonSchema(schema, name),
  ])
  const token = { type: 'apiKey', in: 'header', name: 'Authorization' }
  return {
    openapi: '3.1.0',
    info: { title, version: 'v1', description },
    servers: [{ url: server }],
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { token: { ...token, description: 'The bare token, without a scheme' } },
    },
  }
}

function describe(path: string, operation: Operation, access: Route['access']): object {
  return {
    summary: operation.summary,
    ...(Array.isArray(access) && {
      description: `Needs a token with the scope ${access.map(scope => `\`${scope}\``).join(' or ')}.`,
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
        description: 'Success, or a failure that Cargo recognizes by its body',
        ...content(operation.answer),
      },
      default: { description: 'A failure', ...content(failureAnswer) },
    },
  }
}

function content(body: Schema | Content): object {
  if (!('contentType' in body))
    return { content: { 'application/json': { schema: jsonSchema(body) } } }
  const { contentType, ...schema } = body
  return { content: { [contentType]: { schema: { type: 'string', ...schema } } } }
}

function jsonSchema(schema: Schema, self?: string): object {
  const others = Object.fromEntries(Object.entries(definitions).filter(([name]) => name !== self))
  const overrideRef = ({ referenceId }: { readonly referenceId: string }) =>
    `#/components/schemas/${referenceId}`
  const config = { typeMode: 'output', definitions: others, overrideRef } as const
  const { $schema: _dialect, $defs: _shared, ...rest } = toJsonSchema(schema, config)
  return rest
}

export type Schema = v.GenericSchema

/** The request and response of a route; its handler uses the same schemas. */
export interface Operation {
  readonly summary: string
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>
  readonly body?: Schema | Content
  readonly answer: Schema | Content
}

export interface Content {
  readonly contentType: string
  readonly description: string
  readonly format?: 'binary'
}

const texts = v.array(v.string())

/** The response to a publish; all three lists are always present (specification section 4). */
const publishAnswer = v.object({
  warnings: v.object({ invalid_categories: texts, invalid_badges: texts, other: texts }),
})

const okAnswer = v.object({ ok: v.literal(true) })

/** Cargo reads ids as u32 (specification A.5). */
const ownersAnswer = v.object({
  users: v.array(
    v.object({
      id: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4_294_967_295)),
      login: v.string(),
      name: v.nullable(v.string()),
    }),
  ),
})

/** Cargo shows `msg` when owners are added, and requires it when they are removed. */
const ownerChangeAnswer = v.object({ ok: v.literal(true), msg: v.string() })

const ownerRequest = { body: v.object({ users: texts }) }

const CRATE = '/api/v1/crates/{name}'
const VERSION = `${CRATE}/{version}`

const op = (
  summary: string,
  answer: Operation['answer'],
  request: Pick<Operation, 'query' | 'body'> = {},
): Operation => ({ summary, answer, ...request })

const publishBody: Content = {
  contentType: 'application/octet-stream',
  format: 'binary',
  description:
    'Length of the metadata (u32, little-endian), metadata as JSON, length of the .crate (u32, little-endian), .crate',
}

const crateFile: Content = {
  contentType: 'application/gzip',
  format: 'binary',
  description: 'A gzip-compressed tar archive',
}

const NOTHING: Content = { contentType: 'text/plain', description: 'Nothing: the status is 204' }

const readme = { contentType: 'text/plain; charset=utf-8', description: 'Markdown or plain text' }

const JOBS = '/api/v1/trusted_publishing'

/** The rules of jobs, as crates.io has them for each provider. */
function configOperations(provider: Provider): [string, Operation][] {
  const path = `${JOBS}/${provider}_configs`
  const config = v.looseObject({ id: v.number(), crate: v.string(), created_at: v.string() })
  const meta = v.object({ total: v.number(), next_page: v.nullable(v.string()) })
  const list = v.object({ [`${provider}_configs`]: v.array(config), meta })
  const one = v.object({ [`${provider}_config`]: config })
  return [
    [`GET ${path}`, op('Rules of jobs', list, { query: configQuery })],
    [`POST ${path}`, op('Let a job publish a crate', one, { body: configBodies[provider] })],
    [`DELETE ${path}/{id}`, op('Remove a rule', NOTHING)],
  ]
}

export const operations: Readonly<Record<string, Operation>> = {
  'PUT /api/v1/crates/new': op('Publish a version', publishAnswer, { body: publishBody }),
  [`DELETE ${VERSION}/yank`]: op('Yank a version', okAnswer),
  [`PUT ${VERSION}/unyank`]: op('Undo a yank', okAnswer),
  [`PATCH ${VERSION}`]: op('Yank or unyank a version, and say why', schema.versionAnswer, {
    body: yankBody,
  }),
  [`PUT ${CRATE}/deprecation`]: op('Deprecate a crate, or some of its versions', okAnswer, {
    body: deprecationBody,
  }),
  [`DELETE ${CRATE}/deprecation`]: op('Take a deprecation back', okAnswer, {
    query: v.object({ requirement: v.optional(v.string()) }),
  }),
  [`GET ${CRATE}/owners`]: op('The owners of a crate', ownersAnswer),
  [`PUT ${CRATE}/owners`]: op('Add owners, or invite them', ownerChangeAnswer, ownerRequest),
  [`DELETE ${CRATE}/owners`]: op('Remove owners', ownerChangeAnswer, ownerRequest),
  [`GET ${VERSION}/download`]: op('The .crate file of a version, yanked or not', crateFile),
  [`PATCH ${CRATE}`]: op(
    'Whether versions come from CI only',
    v.object({ crate: schema.crateShape }),
    { body: patchBody },
  ),
  [`POST ${JOBS}/tokens`]: op(
    'Exchange the token of a CI job for one that publishes',
    v.object({ token: v.string() }),
    { body: exchangeBody },
  ),
  [`DELETE ${JOBS}/tokens`]: op('End the token of a job', NOTHING),
  ...Object.fromEntries(PROVIDERS.flatMap(configOperations)),
  'GET /api/v1/crates': op(
    'Search crates: every word must match; without words, all crates by name',
    searchAnswer,
    { query: searchQuery },
  ),
  'GET /api/v1/summary': op('New and updated crates', schema.summaryAnswer),
  [`GET ${CRATE}`]: op(
    'A crate, with its versions unless `include` omits them',
    schema.crateAnswer,
    { query: schema.crateQuery },
  ),
  [`GET ${CRATE}/versions`]: op(
    'The versions of a crate, newest first; paginated if `per_page` is given',
    schema.versionsAnswer,
    { query: schema.versionsQuery },
  ),
  [`GET ${CRATE}/reverse_dependencies`]: op(
    'The crates whose newest version depends on this one',
    schema.reverseAnswer,
    { query: schema.reverseQuery },
  ),
  [`GET ${CRATE}/downloads`]: op(
    'Downloads of a crate in the last 90 days: of its five newest versions, and of all others',
    downloads.crateDownloadsAnswer,
  ),
  [`GET ${VERSION}`]: op('A version', schema.versionAnswer),
  [`GET ${VERSION}/dependencies`]: op('The dependencies of a version', schema.dependenciesAnswer),
  [`GET ${VERSION}/downloads`]: op(
    'Downloads of a version by day, in the last 90 days',
    downloads.versionDownloadsAnswer,
    { query: downloads.versionDownloadsQuery },
  ),
  [`GET ${VERSION}/authors`]: op('The authors in the manifest of a version', schema.authorsAnswer),
  [`GET ${VERSION}/readme`]: op('The README of a version, as packaged', readme),
  'GET /api/openapi.json': op('This OpenAPI document', v.looseObject({ openapi: v.string() })),
}
