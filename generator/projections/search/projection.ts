import { SEARCH_FOLDER } from '../../../core/paths/search.ts'
import { stepOf } from '../../../core/search/files/columns.ts'
import { layoutFile } from '../../../core/search/files/render.ts'
import { type Queries, value } from '../../database/statement.ts'
import { isMarked, marksOf } from '../../records/marks.ts'
import type { Projection } from '../projection.ts'
import {
  beginWhole,
  filesOf,
  followSearch,
  LAYOUT_MARK,
  pathOf,
  readLayouts,
  searchPaths,
  subjectOf,
} from './layouts.ts'
import { buildSearch, searchOutput } from './render.ts'

const both = {
  due: 'soon',
  render: buildSearch,
  follow: followSearch,
} satisfies Partial<Projection>

/** By what searches find each crate, and the files of a layout that is being written. */
export const searchCrates: Projection = {
  ...both,
  kind: 'search',
  work: 'crates to be found',
  of: 'crate',
  async changed(_, { crate, uses }) {
    // Searches rank by steps of this number.
    const moved = uses.filter(({ before, after }) => stepOf(before) !== stepOf(after))
    return marksOf('search', [crate.id, ...moved.map(use => use.id)])
  },
  markAll: beginWhole,
  async *parts({ database }) {
    const { now } = await readLayouts(database)
    if (now) yield { about: 'search', pending: LAYOUT_MARK, render: async () => [layoutFile(now)] }
  },
}

/** Whether a file is marked, or crates are, whose files are not known yet. */
async function isPending(db: Queries, subject: number): Promise<boolean> {
  const isMarkedItself = await isMarked(db, { kind: 'search-file', subject })
  return (
    isMarkedItself ||
    (await value(db, "SELECT 1 FROM marks WHERE kind = 'search' LIMIT 1")) !== null
  )
}

/** The files that searches read. */
export const searchFiles: Projection = {
  ...both,
  kind: 'search-file',
  work: 'search files',
  changed: async () => [],
  markAll: async () => undefined,
  async *parts({ database }) {
    const { now } = await readLayouts(database)
    for (const file of now ? await filesOf(database, now) : []) {
      const layout = now as NonNullable<typeof now>
      yield {
        about: pathOf(file, layout),
        pending: () => isPending(database, subjectOf(file, layout)),
        render: async () =>
          [await searchOutput(database, file, layout)].filter(output => output !== null),
      }
    }
  },
  leftover: { folders: [SEARCH_FOLDER], paths: ({ database }) => searchPaths(database) },
}
