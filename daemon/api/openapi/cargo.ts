import * as v from 'valibot'
import type { Operations } from './operation.ts'

const texts = v.array(v.string())

/** What a publish answers; all three lists are always there (specification section 4). */
export const publishAnswer = v.object({
  warnings: v.object({ invalid_categories: texts, invalid_badges: texts, other: texts }),
})

/** What Cargo asserts of a yank. */
export const okAnswer = v.object({ ok: v.literal(true) })

/** Cargo reads ids as u32 (specification A.5). */
export const ownersAnswer = v.object({
  users: v.array(
    v.object({
      id: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4_294_967_295)),
      login: v.string(),
      name: v.nullable(v.string()),
    }),
  ),
})

/** `msg` is shown by Cargo when owners are added, and insisted on when they are removed. */
export const ownerChangeAnswer = v.object({ ok: v.literal(true), msg: v.string() })

const ownerRequest = v.object({ users: texts })

/** What every failure of the API says, whatever its status (specification A.7). */
export const failureAnswer = v.object({ errors: v.array(v.object({ detail: v.string() })) })

const CRATE = '/api/v1/crates/{name}'

/** The operations of the specification, except search. */
export const cargoOperations: Operations = {
  'PUT /api/v1/crates/new': {
    summary: 'Publish a version',
    body: {
      contentType: 'application/octet-stream',
      format: 'binary',
      description:
        'Length of the metadata (u32, little-endian), metadata as JSON, length of the .crate (u32, little-endian), .crate',
    },
    answer: { schema: publishAnswer },
  },
  [`DELETE ${CRATE}/{version}/yank`]: { summary: 'Yank a version', answer: { schema: okAnswer } },
  [`PUT ${CRATE}/{version}/unyank`]: { summary: 'Take a yank back', answer: { schema: okAnswer } },
  [`GET ${CRATE}/owners`]: { summary: 'The owners of a crate', answer: { schema: ownersAnswer } },
  [`PUT ${CRATE}/owners`]: {
    summary: 'Add owners, or invite them',
    body: { schema: ownerRequest },
    answer: { schema: ownerChangeAnswer },
  },
  [`DELETE ${CRATE}/owners`]: {
    summary: 'Remove owners',
    body: { schema: ownerRequest },
    answer: { schema: ownerChangeAnswer },
  },
  [`GET ${CRATE}/{version}/download`]: {
    summary: 'The .crate file of a version, yanked or not',
    answer: {
      contentType: 'application/gzip',
      format: 'binary',
      description: 'A gzip-compressed tar archive',
    },
  },
}
