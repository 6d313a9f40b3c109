import { all, column, first, type Queries, type Row } from '../../database/statement.ts'
import type { Label } from './labels.ts'

/** A keyword or category with the number of its crates. */
export type LabelCount = Readonly<Pick<Row<'labels'>, 'slug' | 'crates'>>

/** Returns a label by its id, with the number of its crates, which may be 0; null if unknown. */
export function readLabel(db: Queries, id: number): Promise<(Label & LabelCount) | null> {
  return first(db, 'SELECT id, kind, slug, crates FROM labels WHERE id = ?', id)
}

/**
 * Returns the ids of at most `limit` crates of a label: those with the most dependents, by steps
 * that double, and of equal ones the newest.
 */
export function labelCrates(db: Queries, labelId: number, limit: number): Promise<number[]> {
  const text = `SELECT crate_id FROM crate_labels
    WHERE label_id = ? ORDER BY weight DESC, crate_id DESC LIMIT ?`
  return column(db, text, labelId, limit)
}

/** Returns the labels of a kind that most crates have, at most `limit`. */
export function commonLabels(
  db: Queries,
  kind: Label['kind'],
  limit: number,
): Promise<LabelCount[]> {
  const text = `SELECT slug, crates FROM labels
    WHERE kind = ? AND crates > 0 ORDER BY crates DESC, slug LIMIT ?`
  return all(db, text, kind, limit)
}

/** Returns at most `limit` categories below a category, by slug. */
export function subcategories(db: Queries, slug: string, limit: number): Promise<LabelCount[]> {
  const text = `SELECT slug, crates FROM labels
    WHERE kind = 'category' AND slug > ? AND slug < ? AND crates > 0 ORDER BY slug LIMIT ?`
  // `;` follows `:`.
  return all(db, text, `${slug}::`, `${slug}:;`, limit)
}

/** Returns the ids of at most `limit` crates that a user owns, the newest crates first. */
export function ownedCrates(db: Queries, userId: number, limit: number): Promise<number[]> {
  const text = `SELECT owners.crate_id FROM owners
    JOIN listings ON listings.crate_id = owners.crate_id
    WHERE owners.user_id = ? ORDER BY owners.crate_id DESC LIMIT ?`
  return column(db, text, userId, limit)
}

/** Returns the ids of at most `limit` labels that crates have, after an id. */
export function labelIds(db: Queries, after: number, limit: number): Promise<number[]> {
  const text = 'SELECT id FROM labels WHERE id > ? AND crates > 0 ORDER BY id LIMIT ?'
  return column(db, text, after, limit)
}

/** Returns the ids of the users who own crates. */
export function ownerIds(db: Queries): Promise<number[]> {
  const text = `SELECT id FROM users WHERE EXISTS
    (SELECT 1 FROM owners WHERE owners.user_id = users.id) ORDER BY id`
  return column(db, text)
}
