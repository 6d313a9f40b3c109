import * as v from 'valibot'
import {
  crateAnswer,
  crateQuery,
  reverseAnswer,
  reverseQuery,
  searchAnswer,
  searchQuery,
  summaryAnswer,
} from '../crates/crates.ts'
import {
  authorsAnswer,
  dependenciesAnswer,
  downloadsAnswer,
  versionAnswer,
  versionsAnswer,
  versionsQuery,
} from '../crates/versions.ts'

/** Any schema of valibot. */
export type Schema = v.GenericSchema

/** What a route takes and returns; its handler uses the same schemas. */
export interface Operation {
  readonly summary: string
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>
  readonly body?: Schema | Content
  readonly answer: Schema | Content
}

/** What is not JSON by a schema. */
export interface Content {
  readonly contentType: string
  readonly description: string
  readonly format?: 'binary'
}

const texts = v.array(v.string())

/** What a publish answers; all three lists are always there (specification section 4). */
const publishAnswer = v.object({
  warnings: v.object({ invalid_categories: texts, invalid_badges: texts, other: texts }),
})

/** What Cargo asserts of a yank. */
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

/** `msg` is shown by Cargo when owners are added, and insisted on when they are removed. */
const ownerChangeAnswer = v.object({ ok: v.literal(true), msg: v.string() })

const ownerRequest = v.object({ users: texts })

/** What every failure of the API says, whatever its status (specification A.7). */
export const failureAnswer = v.object({ errors: v.array(v.object({ detail: v.string() })) })

const CRATE = '/api/v1/crates/{name}'

/** Every operation of the API, by method and path: `GET /path/{name}`. */
export const operations: Readonly<Record<string, Operation>> = {
  'PUT /api/v1/crates/new': {
    summary: 'Publish a version',
    body: {
      contentType: 'application/octet-stream',
      format: 'binary',
      description:
        'Length of the metadata (u32, little-endian), metadata as JSON, length of the .crate (u32, little-endian), .crate',
    },
    answer: publishAnswer,
  },
  [`DELETE ${CRATE}/{version}/yank`]: { summary: 'Yank a version', answer: okAnswer },
  [`PUT ${CRATE}/{version}/unyank`]: { summary: 'Take a yank back', answer: okAnswer },
  [`GET ${CRATE}/owners`]: { summary: 'The owners of a crate', answer: ownersAnswer },
  [`PUT ${CRATE}/owners`]: {
    summary: 'Add owners, or invite them',
    body: ownerRequest,
    answer: ownerChangeAnswer,
  },
  [`DELETE ${CRATE}/owners`]: {
    summary: 'Remove owners',
    body: ownerRequest,
    answer: ownerChangeAnswer,
  },
  [`GET ${CRATE}/{version}/download`]: {
    summary: 'The .crate file of a version, yanked or not',
    answer: {
      contentType: 'application/gzip',
      format: 'binary',
      description: 'A gzip-compressed tar archive',
    },
  },
  'GET /api/v1/crates': {
    summary: 'Search crates: every word must match; without words, all crates by name',
    query: searchQuery,
    answer: searchAnswer,
  },
  'GET /api/v1/summary': { summary: 'New and updated crates', answer: summaryAnswer },
  [`GET ${CRATE}`]: {
    summary: 'A crate, with its versions unless `include` says otherwise',
    query: crateQuery,
    answer: crateAnswer,
  },
  [`GET ${CRATE}/versions`]: {
    summary: 'The versions of a crate, newest first; in pages when `per_page` is given',
    query: versionsQuery,
    answer: versionsAnswer,
  },
  [`GET ${CRATE}/reverse_dependencies`]: {
    summary: 'The crates whose newest version depends on this one',
    query: reverseQuery,
    answer: reverseAnswer,
  },
  [`GET ${CRATE}/downloads`]: {
    summary: 'Downloads of a crate: none are counted',
    answer: downloadsAnswer,
  },
  [`GET ${CRATE}/{version}`]: { summary: 'A version', answer: versionAnswer },
  [`GET ${CRATE}/{version}/dependencies`]: {
    summary: 'The dependencies of a version',
    answer: dependenciesAnswer,
  },
  [`GET ${CRATE}/{version}/downloads`]: {
    summary: 'Downloads of a version: none are counted',
    answer: downloadsAnswer,
  },
  [`GET ${CRATE}/{version}/authors`]: {
    summary: 'The authors that the manifest of a version names',
    answer: authorsAnswer,
  },
  [`GET ${CRATE}/{version}/readme`]: {
    summary: 'The README of a version, as packaged',
    answer: { contentType: 'text/plain; charset=utf-8', description: 'Markdown or plain text' },
  },
  'GET /api/openapi.json': {
    summary: 'This description',
    answer: v.looseObject({ openapi: v.string() }),
  },
}
