import { type Issue, issue, warning } from './error.ts'

/** Most objections that one answer lists, and most characters of each: more helps nobody and may be meant to flood. */
const OBJECTIONS_MAX = 50
const MESSAGE_MAX = 600

/**
 * Objections fit to be shown, errors before warnings: of each the first fifty and how many more there are, cut to a
 * readable length, without the control and direction characters with which quoted names could play tricks on a terminal.
 */
export function presentable(issues: readonly Issue[]): Issue[] {
  const errors = issues.filter(one => one.severity === 'error')
  const warnings = issues.filter(one => one.severity === 'warning')
  const moreErrors = errors.length - OBJECTIONS_MAX
  const moreWarnings = warnings.length - OBJECTIONS_MAX
  return [
    ...errors.slice(0, OBJECTIONS_MAX).map(tame),
    ...(moreErrors > 0 ? [issue('objections_more', { count: moreErrors })] : []),
    ...warnings.slice(0, OBJECTIONS_MAX).map(tame),
    ...(moreWarnings > 0 ? [warning('objections_more', { count: moreWarnings })] : []),
  ]
}

function tame(one: Issue): Issue {
  const cut =
    one.message.length > MESSAGE_MAX ? `${one.message.slice(0, MESSAGE_MAX)}…` : one.message
  const message = cut.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
  return { ...one, message }
}
