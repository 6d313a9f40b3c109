import { type Issue, issue } from './error.ts'

/** Most objections that one answer lists, and most characters of each: more helps nobody and may be meant to flood. */
const OBJECTIONS_MAX = 50
const MESSAGE_MAX = 600

/**
 * Objections fit to be shown: the first fifty and how many more there are, each cut to a readable length, without the
 * control and direction characters with which quoted names could play tricks on a terminal.
 */
export function presentable(issues: readonly Issue[]): Issue[] {
  const shown = issues.slice(0, OBJECTIONS_MAX).map(one => ({ ...one, message: tame(one.message) }))
  const more = issues.length - shown.length
  return more > 0 ? [...shown, issue('objections_more', { count: more })] : shown
}

function tame(message: string): string {
  const cut = message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message
  return cut.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, one => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
