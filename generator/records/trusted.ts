import { refuse } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { type CratePattern, patternsOf } from '../../core/trust/pattern.ts'
import { column, LIST, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Permitted } from './change.ts'

/** Whether versions come from CI only, in a statement on `crates`: 1 or 0. Prefixes are few. */
export const TRUSTED_ONLY = `CASE WHEN EXISTS (
    SELECT 1 FROM trust_only WHERE pattern = crates.canonical)
  OR EXISTS (SELECT 1 FROM trust_only WHERE is_prefix = 1
    AND substr(crates.canonical, 1, length(pattern) - 1) || '*' = pattern)
  THEN 1 ELSE 0 END`

/** Returns which pattern keeps the versions of a crate to CI, the narrowest; null for none. */
export async function trustedOnly(db: Queries, name: Name): Promise<string | null> {
  const sql = `SELECT pattern FROM trust_only WHERE pattern IN ${LIST}
    ORDER BY is_prefix, length(pattern) DESC LIMIT 1`
  return value(db, sql, patternsOf(canonicalName(name)))
}

/**
 * Refuses the token or session of a user where versions come from CI only, and a job for any crate
 * but that of its grant.
 */
export async function requirePublisher(db: Queries, name: Name, by: Permitted): Promise<void> {
  if (by.who === 'rule' && by.grant.crate !== canonicalName(name))
    refuse('trusted_token_crate', { name })
  if (by.who === 'user' && (await trustedOnly(db, name)) !== null) refuse('trusted_only', { name })
}

/** Has versions of some crates come from CI only, or ends that; returns whether it changed. */
export async function setTrustedOnly(
  tx: Queries,
  { pattern, name }: CratePattern,
  isOn: boolean,
  by: Permitted,
): Promise<boolean> {
  const changed = isOn
    ? await run(
        tx,
        'INSERT INTO trust_only (pattern, is_prefix) VALUES (?, ?) ON CONFLICT DO NOTHING',
        pattern,
        Number(name === null),
      )
    : await run(tx, 'DELETE FROM trust_only WHERE pattern = ?', pattern)
  if (changed === 0) return false
  const action = isOn ? 'trust-only' : 'trust-only-off'
  await addEvent(tx, by, { action, ...(name !== null && { crate: name }), detail: { pattern } })
  return true
}

/** Returns the patterns of crates whose versions come from CI only. */
export function listTrustedOnly(db: Queries): Promise<string[]> {
  return column(db, 'SELECT pattern FROM trust_only ORDER BY pattern')
}
