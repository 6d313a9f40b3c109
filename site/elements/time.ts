import { html, type Markup } from './markup.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A timestamp as a date: `2026-11-20T12:00:00Z` → `Nov 20, 2026`. */
export function formatDate(timestamp: string): string {
  const [year = '', month = '', day = ''] = timestamp.slice(0, 10).split('-')
  return `${MONTHS[Number(month) - 1] ?? month} ${Number(day)}, ${year}`
}

/** A date. The file must not depend on when it was made, so a script says how long ago it was. */
export function timeTag(timestamp: string | null): Markup {
  if (timestamp === null) return html`<span class="quiet">unknown date</span>`
  return html`<time datetime="${timestamp}">${formatDate(timestamp)}</time>`
}

/** A time to the second, in UTC; no script changes it. */
export function exactTimeTag(timestamp: string): Markup {
  return html`<time class="exact" datetime="${timestamp}">${timestamp.replace('T', ' ').replace('Z', '')}</time>`
}
