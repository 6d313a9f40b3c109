import { SEARCH_FOLDER } from '../../../core/paths/search.ts'
import { stepOf } from '../../../core/search/files/columns.ts'
import { type Queries, value } from '../../database/statement.ts'
import { marksOf } from '../../records/marks.ts'
import type { Projection } from '../projection.ts'
import {
  beginWhole,
  filesOf,
  followSearch,
  LAYOUT_FILE,
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
  async *parts() {},
}

/** Whether a file is marked, or crates are, whose files are not known yet. */
async function isPending(db: Queries, subject: number): Promise<boolean> {
  const sql = `SELECT 1 FROM marks
    WHERE kind = 'search' OR (kind = 'search-file' AND subject = ?) LIMIT 1`
  return (await value(db, sql, subject)) !== null
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
    if (now === null) return
    for (const file of [...(await filesOf(database, now)), LAYOUT_FILE])
      yield {
        about: pathOf(file, now),
        pending: () => isPending(database, subjectOf(file, now)),
        render: async () =>
          [await searchOutput(database, file, now)].filter(output => output !== null),
      }
  },
  leftover: { folders: [SEARCH_FOLDER], paths: ({ database }) => searchPaths(database) },
}
