import type { About } from '../../../core/manifest/manifest.ts'
import { categoryPath, keywordPath } from '../../../core/paths/listings.ts'
import { stepOf } from '../../../core/search/files/columns.ts'
import { sha256Bytes } from '../../../core/sha256.ts'
import { LIST, type Queries, type Row, run, value } from '../database/statement.ts'
import { type MarkSubject, marksOf } from './marks.ts'

/** A keyword or category that has a page. */
export type Label = Pick<Row<'labels'>, 'id' | 'kind' | 'slug'>

/** The labels of a crate by their ids. */
export type Labels = ReadonlyMap<number, Label>

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

/**
 * Changes the labels of a crate from `old` to `now`, writing only the differences. The crate is
 * listed, or has no labels. Returns the marks of the pages of all these labels.
 */
export async function changeLabels(
  tx: Queries,
  crateId: number,
  old: Labels,
  now: Labels,
): Promise<MarkSubject[]> {
  const gone = [...old.keys()].filter(id => !now.has(id))
  const come = [...now.values()].filter(({ id }) => !old.has(id))
  if (gone.length > 0) {
    const text = `DELETE FROM crate_labels WHERE crate_id = ? AND label_id IN ${LIST}`
    await run(tx, text, crateId, gone)
    await run(tx, `UPDATE labels SET crates = crates - 1 WHERE id IN ${LIST}`, gone)
  }
  if (come.length > 0) {
    await run(
      tx,
      `INSERT INTO labels (id, kind, slug, crates)
        SELECT CAST(value ->> 'id' AS INTEGER), value ->> 'kind', value ->> 'slug', 1 FROM json_each(?) WHERE true
        ON CONFLICT (id) DO UPDATE SET crates = labels.crates + 1`,
      come,
    )
    const text = 'SELECT dependents FROM listings WHERE crate_id = ?'
    const weight = stepOf((await value<number>(tx, text, crateId)) ?? 0)
    await run(
      tx,
      `INSERT INTO crate_labels (label_id, weight, crate_id)
        SELECT CAST(value ->> 'id' AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER)
        FROM json_each(?)`,
      weight,
      crateId,
      come,
    )
  }
  return marksOf('label', [...old.keys(), ...now.keys()])
}

/**
 * Orders a crate anew among those of its labels. The weight is the step of its dependents, which
 * changes rarely, so that few rows change with a dependent.
 */
export async function weighLabels(tx: Queries, crateId: number, dependents: number): Promise<void> {
  const text = 'UPDATE crate_labels SET weight = ? WHERE crate_id = ?'
  await run(tx, text, stepOf(dependents), crateId)
}
