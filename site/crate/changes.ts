import { html, type Markup } from '../elements/markup.ts'
import type { Change } from './comparison.ts'

/** What changed since the previous version. */
export function changeSection(previous: string, list: readonly Change[]): Markup {
  return html`<p class="quiet">Since version ${previous}:</p>
<ul class="changes">
${list.map(
  change => html`<li><span class="badge ${change.kind}">${change.kind}</span> ${change.subject === 'MSRV' ? null : html`${change.subject} `}<strong>${change.name}</strong> <span class="quiet">${detail(change)}</span></li>
`,
)}</ul>`
}

function detail({ kind, before, after }: Change): string {
  if (kind === 'added') return after
  if (kind === 'removed') return before
  if (before === '') return `now ${after}`
  return after === '' ? `no longer ${before}` : `${before} → ${after}`
}
