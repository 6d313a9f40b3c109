import { SEARCH_FOLDER } from '../../../core/paths/search.ts'
import { stepOf } from '../../../core/search/columns.ts'
import { marksOf } from '../../records/marks.ts'
import type { Projection } from '../projection.ts'
import {
  beginWhole,
  filesOf,
  followSearch,
  isPending,
  LAYOUT_FILE,
  pathOf,
  readLayouts,
  searchPaths,
} from './layouts.ts'
import { buildSearch, searchOutput } from './render.ts'

/** By what searches find each crate, and the files that they read. */
export const search: Projection = {
  kind: 'search',
  work: 'search files',
  of: 'crate',
  due: 'soon',
  async changed(_, { crate, uses }) {
    // Searches rank by steps of this number.
    const moved = uses.filter(({ before, after }) => stepOf(before) !== stepOf(after))
    return marksOf('search', [crate.id, ...moved.map(use => use.id)])
  },
  render: buildSearch,
  follow: followSearch,
  markAll: beginWhole,
  async *parts({ database }) {
    const { now } = await readLayouts(database)
    if (now === null) return
    for (const file of [...(await filesOf(database, now)), LAYOUT_FILE])
      yield {
        about: pathOf(file, now),
        pending: () => isPending(database, file, now),
        render: async () => {
          // Its files were written with a layout that has come since, or are marked.
          if ((await readLayouts(database)).now?.bits !== now.bits) return []
          const output = await searchOutput(database, file, now)
          return output ? [output] : []
        },
      }
  },
  leftover: { folders: [SEARCH_FOLDER], paths: ({ database }) => searchPaths(database) },
}
