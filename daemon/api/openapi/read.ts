import * as v from 'valibot'
import { crateAnswer, crateQuery } from '../crates/crate.ts'
import { reverseAnswer, reverseQuery } from '../crates/reverse-dependencies.ts'
import { authorsAnswer, downloadsAnswer } from '../crates/uncounted.ts'
import {
  dependenciesAnswer,
  versionAnswer,
  versionsAnswer,
  versionsQuery,
} from '../crates/versions.ts'
import { searchAnswer, searchQuery } from '../search.ts'
import { summaryAnswer } from '../summary.ts'
import type { Operations } from './operation.ts'

const CRATE = '/api/v1/crates/{name}'

/** Search, and the reading operations in the shape of crates.io. */
export const readOperations: Operations = {
  'GET /api/v1/crates': {
    summary: 'Search crates: every word must match; without words, all crates by name',
    query: searchQuery,
    answer: { schema: searchAnswer },
  },
  'GET /api/v1/summary': { summary: 'New and updated crates', answer: { schema: summaryAnswer } },
  [`GET ${CRATE}`]: {
    summary: 'A crate, with its versions unless `include` says otherwise',
    query: crateQuery,
    answer: { schema: crateAnswer },
  },
  [`GET ${CRATE}/versions`]: {
    summary: 'The versions of a crate, newest first; in pages when `per_page` is given',
    query: versionsQuery,
    answer: { schema: versionsAnswer },
  },
  [`GET ${CRATE}/reverse_dependencies`]: {
    summary: 'The crates whose newest version depends on this one',
    query: reverseQuery,
    answer: { schema: reverseAnswer },
  },
  [`GET ${CRATE}/downloads`]: {
    summary: 'Downloads of a crate: none are counted',
    answer: { schema: downloadsAnswer },
  },
  [`GET ${CRATE}/{version}`]: { summary: 'A version', answer: { schema: versionAnswer } },
  [`GET ${CRATE}/{version}/dependencies`]: {
    summary: 'The dependencies of a version',
    answer: { schema: dependenciesAnswer },
  },
  [`GET ${CRATE}/{version}/downloads`]: {
    summary: 'Downloads of a version: none are counted',
    answer: { schema: downloadsAnswer },
  },
  [`GET ${CRATE}/{version}/authors`]: {
    summary: 'The authors that the manifest of a version names',
    answer: { schema: authorsAnswer },
  },
  [`GET ${CRATE}/{version}/readme`]: {
    summary: 'The README of a version, as packaged',
    answer: { contentType: 'text/plain; charset=utf-8', description: 'Markdown or plain text' },
  },
  'GET /api/openapi.json': {
    summary: 'This description',
    answer: { schema: v.looseObject({ openapi: v.string() }) },
  },
}
