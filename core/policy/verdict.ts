import type { Issue } from '../error/error.ts'
import type { Level } from '../settings/kind.ts'

/** The objection as heavy as its rule is taken; nothing when the rule is off. */
export function weigh(level: Level, objection: Issue): Issue[] {
  if (level === 'off') return []
  return [{ ...objection, severity: level === 'error' ? 'error' : 'warning' }]
}
