import type { Context } from 'hono'
import * as v from 'valibot'
import type { Slice } from '../../core/search/layout.ts'
import type { PagePosition } from '../../site/elements/elements.ts'

/**
 * Parses a whole number in a query. The specification has defaults and maxima but no errors: a
 * number out of range becomes the nearest in range; anything else becomes the default.
 */
function wholeNumber(fallback: number, max: number) {
  const read = (text: string) =>
    /^-?\d+$/.test(text) ? Math.min(Math.max(Number(text), 1), max) : fallback
  return v.pipe(
    v.optional(v.string(), String(fallback)),
    v.transform(read),
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(max),
  )
}

export const pageQuery = {
  page: wholeNumber(1, 1_000_000),
  per_page: wholeNumber(10, 100),
}

/** The same for lists that most clients want whole: 100 rows without `per_page`. */
export const longPageQuery = { ...pageQuery, per_page: wholeNumber(100, 100) }

type PageQuery = Readonly<Record<keyof typeof pageQuery, number>>

export const pageMeta = v.object({
  total: v.pipe(v.number(), v.integer(), v.minValue(0)),
  next_page: v.nullable(v.string()),
  prev_page: v.nullable(v.string()),
})

/** Returns the rows of a page as limit and offset. */
export function sliceOf({ page, per_page }: PageQuery): Slice {
  return { limit: per_page, offset: (page - 1) * per_page }
}

/** Returns the `meta` of a page; its links keep the other query parameters of `url`. */
export function metaOf(
  url: string,
  { page, per_page }: PageQuery,
  total: number,
): v.InferOutput<typeof pageMeta> {
  const last = Math.ceil(total / per_page)
  const link = (to: number) => {
    const query = new URL(url).searchParams
    query.set('page', String(to))
    return `?${query}`
  }
  return {
    total,
    next_page: page < last ? link(page + 1) : null,
    prev_page: page > 1 && last > 0 ? link(Math.min(page - 1, last)) : null,
  }
}

/** Parses a row id in a URL or a command; null for anything else, such as `0x1`, `1e0` or ` 1`. */
export function rowId(text: string | undefined): number | null {
  return text !== undefined && /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : null
}

const ROWS = 50

/** Returns the page of `total` rows that `?page=` requests, at most the last one. */
export function listPage(c: Context, total: number): PagePosition & Slice {
  const last = Math.max(1, Math.ceil(total / ROWS))
  const page = Math.min(rowId(c.req.query('page')) ?? 1, last)
  return { page, last, limit: ROWS, offset: (page - 1) * ROWS }
}
