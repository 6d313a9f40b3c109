// generator/projections/search: The files of the search. The list of projections has it;
// core/search reads them, never this room.
import { canonicalName } from '../../../core/name.ts'
import { SEARCH_FOLDER } from '../../../core/paths/search.ts'
import type { SearchLayout } from '../../../core/search/layout.ts'
import { stepOf } from '../../../core/search/ranks.ts'
import { column, LIST, run, value } from '../../database/statement.ts'
import { marksOf } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { type Pages, replaceFiles } from '../pages.ts'
import { refreshSearch } from './change.ts'
import {
  BUCKETS,
  beginWhole,
  filesOf,
  LAYOUT,
  pathOf,
  readState,
  renderFile,
  writeLayout,
} from './files.ts'

/** The layout as a turn has read it; nobody else changes it meanwhile. */
const layouts = new WeakMap<PageContext, SearchLayout | null>()

/** The terms that find each crate, and the files that searches read. */
export const search: Pages = {
  kind: 'search',
  work: 'search files',
  of: 'crate',
  due: 'soon',
  async changed(tx, { crate, uses }) {
    // Searches rank by steps of this number.
    const moved = uses.filter(({ before, after }) => stepOf(before) !== stepOf(after))
    const names = [canonicalName(crate.name), ...moved.map(use => use.canonical)]
    const wholes = names.flatMap(name => /^(.+)_core$/.exec(name)?.[1] ?? [])
    const sql = `SELECT id FROM crates WHERE canonical IN ${LIST}`
    const ids = wholes.length === 0 ? [] : await column<number>(tx, sql, wholes)
    return marksOf('search', new Set([crate.id, ...moved.map(use => use.id), ...ids]))
  },
  async render(context, mark, others) {
    const { database } = context
    const { subject } = mark
    if (subject < BUCKETS) return refreshSearch(context, mark, others)
    const isLayout = subject === LAYOUT
    const now = isLayout ? await writeLayout(context) : layouts.get(context)
    const layout = now ?? (await readState(database)).layout
    layouts.set(context, layout)
    if (isLayout || layout === null) return { done: [mark] }
    const files = await renderFile(database, subject, layout)
    await replaceFiles(context, files, [pathOf(subject, layout)])
    return { done: [mark] }
  },
  async onSettled(tx, done) {
    if (done.some(({ kind, subject }) => kind === 'search' && subject >= BUCKETS))
      await run(tx, "UPDATE counts SET n = n + 1 WHERE what = 'search'")
  },
  markAll: beginWhole,
  async *parts({ database }) {
    const { layout } = await readState(database)
    if (layout === null) return
    // A file is pending, too, as long as crates are marked, whose files nobody knows.
    const sql = "SELECT 1 FROM marks WHERE kind = 'search' AND (subject < ? OR subject = ?) LIMIT 1"
    for (const file of await filesOf(database, layout))
      yield {
        about: pathOf(file, layout),
        pending: async () => (await value(database, sql, BUCKETS, file)) !== null,
        render: async () => {
          // Its files were written with a layout that has come since, or are marked.
          const isCurrent = (await readState(database)).layout?.bits === layout.bits
          return isCurrent ? renderFile(database, file, layout) : []
        },
      }
  },
  leftover: {
    folders: [SEARCH_FOLDER],
    async paths({ database }) {
      const { layout } = await readState(database)
      if (layout === null) return []
      return (await filesOf(database, layout)).map(file => pathOf(file, layout))
    },
  },
}
