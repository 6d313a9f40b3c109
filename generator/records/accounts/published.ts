import { refuse } from '../../../core/error/error.ts'
import { all, first, type Queries } from '../../database/statement.ts'

/** A version that a token has published. */
export interface Published {
  readonly name: string
  readonly version: string
  readonly at: string
  /** From where; null for an event without an address. */
  readonly address: string | null
  readonly state: 'there' | 'yanked' | 'deleted'
}

/** Returns what a token, also a revoked one, has published since a time, oldest first. */
export async function listPublished(
  db: Queries,
  token: number,
  since: string,
): Promise<Published[]> {
  if (!(await first(db, 'SELECT id FROM tokens WHERE id = ?', token)))
    refuse('token_unknown', { id: String(token) })
  const sql = `SELECT audit.crate AS name, audit.version, audit.at, audit.address,
      CASE WHEN releases.id IS NULL THEN 'deleted' WHEN releases.yanked = 1 THEN 'yanked'
        ELSE 'there' END AS state
    FROM audit LEFT JOIN crates ON crates.name = audit.crate
    LEFT JOIN releases ON releases.crate_id = crates.id AND releases.version = audit.version
    WHERE audit.action = 'publish' AND audit.token_id = ? AND audit.at >= ?
    ORDER BY audit.id`
  return all<Published>(db, sql, token, since)
}
