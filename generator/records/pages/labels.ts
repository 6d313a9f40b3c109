import { all, first, type Queries, type Row } from '../../database/statement.ts'
import { type CrateCard, selectCards } from './cards.ts'

/** A keyword or category that has a page. */
export type Label = Pick<Row<'labels'>, 'id' | 'kind' | 'slug'>

/** A keyword or category with the number of its crates. */
export type LabelCount = Readonly<Pick<Row<'labels'>, 'slug' | 'crates'>>

/** Returns a label by its id, with the number of its crates, which may be 0; null if unknown. */
export function readLabel(db: Queries, id: number): Promise<(Label & LabelCount) | null> {
  return first(db, 'SELECT id, kind, slug, crates FROM labels WHERE id = ?', id)
}

/** Returns crates of a label: by number of dependents, in steps that double, then the newest. */
export function labelCrates(db: Queries, labelId: number, limit: number): Promise<CrateCard[]> {
  const rest = `JOIN crate_labels ON crate_labels.crate_id = crates.id WHERE label_id = ?
    ORDER BY crate_labels.weight DESC, crate_labels.crate_id DESC LIMIT ?`
  return selectCards(db, rest, labelId, limit)
}

/** Returns the labels of a kind that most crates have, at most `limit`. */
export function commonLabels(
  db: Queries,
  kind: Label['kind'],
  limit: number,
): Promise<LabelCount[]> {
  const sql = `SELECT slug, crates FROM labels
    WHERE kind = ? AND crates > 0 ORDER BY crates DESC, slug LIMIT ?`
  return all(db, sql, kind, limit)
}

/** Returns at most `limit` categories below a category, by slug. */
export function subcategories(db: Queries, slug: string, limit: number): Promise<LabelCount[]> {
  const sql = `SELECT slug, crates FROM labels
    WHERE kind = 'category' AND slug > ? AND slug < ? AND crates > 0 ORDER BY slug LIMIT ?`
  // `;` follows `:`.
  return all(db, sql, `${slug}::`, `${slug}:;`, limit)
}
