import type { Markup } from './markup.ts'
import { html } from './markup.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A date as people write it: `2026-11-20T12:00:00Z` → `20 Nov 2026`. */
export function day(moment: string): string {
  const [year = '', month = '', date = ''] = moment.slice(0, 10).split('-')
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? month} ${year}`
}

/** A moment on a page: absolute in the file, because a file must not depend on when it was made; a script says how long ago. */
export function timeTag(moment: string | null): Markup {
  if (moment === null) return html`<span class="quiet">unknown date</span>`
  return html`<time datetime="${moment}">${day(moment)}</time>`
}

/** A moment to the second, in UTC, where how long ago says too little; no script changes it. */
export function exactTimeTag(moment: string): Markup {
  return html`<time class="exact" datetime="${moment}">${moment.replace('T', ' ').replace('Z', '')}</time>`
}
