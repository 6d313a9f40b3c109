import type { Issue } from '../error/error.ts'
import { issue, warning } from '../error/error.ts'
import type { Level } from '../settings/kind.ts'

/** Most objections of one severity that an answer carries. */
const MOST = 40

/** The objection as heavy as its rule is taken; nothing when the rule is off. */
export function weigh(level: Level, objection: Issue): Issue[] {
  if (level === 'off') return []
  return [{ ...objection, severity: level === 'error' ? 'error' : 'warning' }]
}

/** Errors before warnings, of each no more than a person reads: a manifest can be wrong in 90,000 places. */
export function condense(issues: readonly Issue[]): Issue[] {
  const errors = issues.filter(one => one.severity === 'error')
  const warnings = issues.filter(one => one.severity === 'warning')
  return [
    ...errors.slice(0, MOST),
    ...(errors.length > MOST ? [issue('objections_more', { count: errors.length - MOST })] : []),
    ...warnings.slice(0, MOST),
    ...(warnings.length > MOST
      ? [warning('objections_more', { count: warnings.length - MOST })]
      : []),
  ]
}
