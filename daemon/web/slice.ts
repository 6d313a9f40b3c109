import type { Context } from 'hono'
import type { PagePosition } from '../../site/elements/pager.ts'
import { rowId } from '../http/row-id.ts'

/** As many rows as a page of somebody's account has of a list that may be long. */
const ROWS = 50

/** A page of a list, and which of its rows that is. */
export interface Slice extends PagePosition {
  readonly limit: number
  readonly offset: number
}

/** The page of a list of `total` rows that `?page=` asks for: the last one for those that lie behind it. */
export function sliceOf(c: Context, total: number): Slice {
  const last = Math.max(1, Math.ceil(total / ROWS))
  const page = Math.min(rowId(c.req.query('page')) ?? 1, last)
  return { page, last, limit: ROWS, offset: (page - 1) * ROWS }
}
