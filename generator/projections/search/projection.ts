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
  readLayout,
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
    const { layout } = await readLayout(database)
    if (layout === null) return
    for (const file of [...(await filesOf(database, layout)), LAYOUT_FILE])
      yield {
        about: pathOf(file, layout),
        pending: () => isPending(database, file, layout),
        render: async () => {
          // Its files were written with a layout that has come since, or are marked.
          if ((await readLayout(database)).layout?.bits !== layout.bits) return []
          const output = await searchOutput(database, file, layout)
          return output ? [output] : []
        },
      }
  },
  leftover: {
    folders: [SEARCH_FOLDER],
    async paths({ database }) {
      const { layout } = await readLayout(database)
      if (layout === null) return []
      return [...(await filesOf(database, layout)), LAYOUT_FILE].map(file => pathOf(file, layout))
    },
  },
}
