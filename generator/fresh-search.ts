import { within } from '../core/async/repeater.ts'
import type { Slice } from '../core/search/layout.ts'
import type { SearchRequest } from '../core/search/request.ts'
import type { Database } from './database/connection.ts'
import { BATCH, buildMarks, pageMarks } from './pages/marked.ts'
import type { PageContext } from './projections/context.ts'
import { readState } from './projections/search/files.ts'
import { type FoundCrates, searchCrates } from './projections/search/search.ts'
import type { Mark } from './records/marks.ts'

/** The longest that a search waits for what others have changed, in milliseconds. */
const FRESH_MS = 500

/** The longest that it waits when nothing can be searched yet. */
const FIRST_MS = 5000

/**
 * Searches the crates (`searchCrates`) after the search files are rendered for all changes before
 * it. If that takes longer than half a second, such as after an import, or cannot be written, it
 * makes do with what there is; it waits longer while there is nothing.
 */
export async function searchFresh(
  context: PageContext,
  request: SearchRequest,
  slice: Slice,
): Promise<FoundCrates> {
  const { database, clock } = context
  const begin = performance.now()
  for (let isDone = true; isDone; ) {
    const marks = await pageMarks(context, clock(), BATCH, ['search'])
    if (marks.length === 0) break
    const most = (await readState(database)).layout === null ? FIRST_MS : FRESH_MS
    const rest = begin + most - performance.now()
    isDone = rest > 0 && (await within(rendered(context, marks), rest, false))
  }
  return searchCrates(context, request, slice)
}

const rendering = new WeakMap<Database, Promise<boolean>>()

/** Renders marks, once for searches at the same time; returns false if that is left to others. */
function rendered(context: PageContext, marks: readonly Mark[]): Promise<boolean> {
  const running = rendering.get(context.database)
  if (running) return running
  const work = buildMarks(context, marks)
    .then(done => done !== null)
    // Where it fails, the page worker fails, too, and says so.
    .catch(() => false)
    .finally(() => rendering.delete(context.database))
  rendering.set(context.database, work)
  return work
}
