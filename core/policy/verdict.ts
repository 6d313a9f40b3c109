import type { Issue } from '../error/error.ts'
import type { Level } from '../settings/kind.ts'

/** The objection with the severity of its rule; none when the rule is off. */
export function weigh(level: Level, objection: Issue): Issue[] {
  if (level === 'off') return []
  return [{ ...objection, severity: level === 'error' ? 'error' : 'warning' }]
}
