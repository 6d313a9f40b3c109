// generator/projections/lists: The pages that list crates. The list of projections has it; no other
// imports it.
import type { About } from '../../../core/manifest/manifest.ts'
import { beginnings, canonicalName } from '../../../core/name.ts'
import { CRATES_FOLDER } from '../../../core/paths/crates.ts'
import {
  CATEGORIES_FOLDER,
  categoryPath,
  KEYWORDS_FOLDER,
  keywordPath,
  LISTS_FOLDER,
  USERS_FOLDER,
} from '../../../core/paths/listings.ts'
import { downloadsPlotPath, isListPath } from '../../../core/paths/tree.ts'
import { stepOf } from '../../../core/search/ranks.ts'
import { sha256Bytes } from '../../../core/sha256.ts'
import { column, insertAll, LIST, type Queries, run, value } from '../../database/statement.ts'
import { type CrateChange, isRelisted } from '../../records/crate-change.ts'
import { type CrateState, isSameNewest } from '../../records/listing.ts'
import { type MarkSubject, markSelected, marksOf, SITE } from '../../records/marks.ts'
import { usersWith } from '../../records/owners.ts'
import type { Label } from '../../records/pages/overviews.ts'
import { bySubject, type Pages, replaceFiles } from '../pages.ts'

/** Loaded when something is rendered: most commands only open the registry. */
const [byLetter, overviews] = [() => import('./letters.ts'), () => import('./views.ts')]

/** The pages by letters, which lead to each crate. */
export const letters: Pages = {
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
export const labels: Pages = {
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
export const users: Pages = {
  kind: 'user',
  work: 'pages of users',
  async changed(tx, change) {
    const { before, owner } = change
    const isOnly = before === null && owner !== null
    if (isOnly || !isRelisted(change)) return marksOf('user', owner === null ? [] : [owner])
    const owners = await usersWith(tx, change.crate.id)
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
export const views: Pages = {
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

/** Counts a crate that came or went for every prefix of its name, including the empty one. */
export async function changePrefixes(
  tx: Queries,
  { crate, before, after }: CrateChange,
): Promise<void> {
  const prefixes = beginnings(canonicalName(crate.name))
  if (after && !before)
    await insertAll(
      tx,
      'prefixes',
      prefixes.map(prefix => ({ prefix, crates: 1 })),
      'ON CONFLICT (prefix) DO UPDATE SET crates = prefixes.crates + 1',
    )
  if (before && !after) {
    await run(tx, `UPDATE prefixes SET crates = crates - 1 WHERE prefix IN ${LIST}`, prefixes)
    await run(tx, `DELETE FROM prefixes WHERE prefix IN ${LIST} AND crates = 0`, prefixes)
  }
}

type Labels = ReadonlyMap<number, Label>

/** Maximum number of labels of one crate; a policy may allow any number of keywords. */
const LABELS_MAX = 32

/**
 * Returns the keywords and categories that have a page. A crate of `science::robotics` is also in
 * `science`, as on crates.io. The id is a hash, so that a publish need not look it up.
 */
export function labelsOf({ keywords, categories }: Pick<About, 'keywords' | 'categories'>): Labels {
  const labels = new Map<number, Label>()
  const put = (kind: Label['kind'], slug: string) => {
    const id = sha256Bytes(`${kind} ${slug}`).readUIntBE(0, 6)
    if (labels.size < LABELS_MAX) labels.set(id, { id, kind, slug })
  }
  for (const keyword of keywords)
    if (keywordPath(keyword) !== null) put('keyword', keyword.toLowerCase())
  for (const category of categories) {
    if (categoryPath(category) === null) continue
    const levels = category.toLowerCase().split('::')
    for (const at of levels.keys()) put('category', levels.slice(0, at + 1).join('::'))
  }
  return labels
}

/** Returns the labels of a crate; one with only yanked versions has none. */
function shownLabels(state: CrateState | null): Labels {
  return state && state.yanked === 0 ? labelsOf(JSON.parse(state.about) as About) : new Map()
}

/**
 * Changes the labels of a crate, writing only the differences, and reorders the crates that it
 * needs in theirs. The weight is the step of a crate's dependents, which changes rarely. Returns
 * the marks of the pages of all labels that the crate has or had, or that those crates have.
 */
export async function changedLabels(
  tx: Queries,
  { crate, before, after, uses }: CrateChange,
): Promise<MarkSubject[]> {
  if (before === after) return []
  const others: number[] = []
  for (const use of uses) {
    if (stepOf(use.before) === stepOf(use.after)) continue
    const sql = 'UPDATE crate_labels SET weight = ? WHERE crate_id = ? RETURNING label_id'
    others.push(...(await column<number>(tx, sql, stepOf(use.after), use.id)))
  }
  const old = shownLabels(before)
  if (isSameNewest(before, after)) return marksOf('label', old.keys())
  const now = shownLabels(after)
  const gone = [...old.keys()].filter(id => !now.has(id))
  const come = [...now.values()].filter(({ id }) => !old.has(id))
  if (gone.length > 0) {
    const sql = `DELETE FROM crate_labels WHERE crate_id = ? AND label_id IN ${LIST}`
    await run(tx, sql, crate.id, gone)
    await run(tx, `UPDATE labels SET crates = crates - 1 WHERE id IN ${LIST}`, gone)
  }
  if (come.length > 0) await addLabels(tx, crate.id, come)
  return marksOf('label', [...old.keys(), ...now.keys(), ...others])
}

async function addLabels(tx: Queries, crateId: number, come: readonly Label[]): Promise<void> {
  const labels = come.map(label => ({ ...label, crates: 1 }))
  const counted = 'ON CONFLICT (id) DO UPDATE SET crates = labels.crates + 1'
  await insertAll(tx, 'labels', labels, counted)
  const dependents = 'SELECT dependents FROM listings WHERE crate_id = ?'
  const weight = stepOf((await value<number>(tx, dependents, crateId)) ?? 0)
  const rows = come.map(({ id }) => ({ label_id: id, weight, crate_id: crateId }))
  await insertAll(tx, 'crate_labels', rows)
}
