import { CRATES_FOLDER } from '../../../core/paths/crates.ts'
import {
  CATEGORIES_FOLDER,
  KEYWORDS_FOLDER,
  LISTS_FOLDER,
  USERS_FOLDER,
} from '../../../core/paths/listings.ts'
import { downloadsPlotPath, isListPath } from '../../../core/paths/tree.ts'
import { column, run } from '../../database/statement.ts'
import { isRelisted } from '../../records/crate-change.ts'
import { markSelected, marksOf, SITE } from '../../records/marks.ts'
import { bySubject, type Projection, replaceFiles } from '../projection.ts'
import { changedLabels, changePrefixes } from './change.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const [byLetter, overviews] = [() => import('./letters.ts'), () => import('./views.ts')]

/** The pages by letters, which lead to each crate. */
export const letters: Projection = {
  kind: 'list',
  work: 'list pages',
  of: 'crate',
  async changed(tx, change) {
    await changePrefixes(tx, change)
    return marksOf('list', isRelisted(change) ? [change.crate.id] : [])
  },
  reset: tx => run(tx, 'DELETE FROM prefixes'),
  due: 'soon',
  render: async (context, mark) => ({ done: await (await byLetter()).buildList(context, mark) }),
  markAll: tx => markSelected(tx, 'list', 'SELECT id AS subject, generation FROM crates'),
  async *parts(context) {
    // A change to the list also marks the views, whose mark is cleared later.
    for await (const output of (await byLetter()).listOutputs(context))
      yield { about: output.path, pending: VIEWS, render: async () => [output] }
  },
  leftover: { folders: [], among: CRATES_FOLDER, isOwn: isListPath },
}

/** The page of each keyword and category. */
export const labels: Projection = {
  kind: 'label',
  work: 'pages of keywords and categories',
  changed: changedLabels,
  async reset(tx) {
    await run(tx, 'DELETE FROM crate_labels')
    await run(tx, 'DELETE FROM labels')
  },
  due: 'idle',
  ...bySubject(
    'label',
    "SELECT id AS subject, 0 AS generation, 'keywords' AS about FROM labels",
    async (context, id) => (await overviews()).labelOutputs(context, id),
    async (context, id) => (await overviews()).labelPaths(context, id),
  ),
  leftover: { folders: [KEYWORDS_FOLDER, CATEGORIES_FOLDER] },
}

/** The page of each user who owns crates. */
export const users: Projection = {
  kind: 'user',
  work: 'pages of users',
  async changed(tx, change) {
    const { before, owner } = change
    const isOnly = before === null && owner !== null
    if (isOnly || !isRelisted(change)) return marksOf('user', owner === null ? [] : [owner])
    const sql = 'SELECT user_id FROM owners WHERE crate_id = ?'
    const owners = await column<number>(tx, sql, change.crate.id)
    return marksOf('user', owner === null ? owners : [...owners, owner])
  },
  due: 'idle',
  ...bySubject(
    'user',
    "SELECT id AS subject, 0 AS generation, 'users' AS about FROM users",
    async (context, id) => (await overviews()).userOutputs(context, id),
    async (context, id) => (await overviews()).userPaths(context, id),
  ),
  leftover: { folders: [USERS_FOLDER] },
}

const VIEWS = { kind: 'views', subject: SITE } as const

/** Statistics, lists of keywords, and the list of crates in several orders. */
export const views: Projection = {
  kind: 'views',
  work: 'statistics and sorted lists',
  changed: async (_, change) => (isRelisted(change) ? [VIEWS] : []),
  due: 'idle',
  ...bySubject(
    'views',
    `SELECT ${SITE} AS subject, 0 AS generation, 'lists' AS about`,
    async context => (await overviews()).viewOutputs(context),
  ),
  async render(context, mark) {
    const { pruneViews, viewOutputs } = await overviews()
    const outputs = await viewOutputs(context)
    await replaceFiles(context, outputs, [])
    await pruneViews(context, outputs)
    // The statistics show this plot.
    const isMissing = context.site.downloads && !(await context.tree.has(downloadsPlotPath))
    return { done: [mark], again: isMissing ? marksOf('downloads', [SITE]) : [] }
  },
  leftover: { folders: [LISTS_FOLDER] },
}
