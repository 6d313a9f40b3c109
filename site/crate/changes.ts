import type { Change } from '../changes.ts'
import type { Markup } from '../markup.ts'
import { html } from '../markup.ts'

/** What changed against the version before. */
export function changeSection(before: string, list: readonly Change[]): Markup {
  if (list.length === 0) return html`<p class="quiet">Same dependencies, features and Rust version as ${before}.</p>`
  return html`<ul class="changes">
${list.map(
  change => html`<li><span class="badge ${change.kind}">${change.kind}</span> ${change.subject === 'MSRV' ? null : html`${change.subject} `}<strong>${change.name}</strong> ${detail(change)}</li>
`,
)}</ul>`
}

function detail(change: Change): Markup {
  if (change.before !== null && change.after !== null)
    return html`<span class="quiet">${change.before} → ${change.after}</span>`
  return html`<span class="quiet">${change.after ?? change.before}</span>`
}
