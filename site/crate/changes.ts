import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import type { Change } from './comparison.ts'

/** What changed against the version before. */
export function changeSection(before: string, list: readonly Change[]): Markup {
  if (list.length === 0)
    return html`<p class="quiet">Same dependencies, features and Rust version as ${before}.</p>`
  return html`<ul class="changes">
${list.map(
  change => html`<li><span class="badge ${change.kind}">${change.kind}</span> ${change.subject === 'MSRV' ? null : html`${change.subject} `}<strong>${change.name}</strong> ${detail(change)}</li>
`,
)}</ul>`
}

function detail({ kind, before, after }: Change): Markup {
  if (kind === 'added') return html`<span class="quiet">${after}</span>`
  if (kind === 'removed') return html`<span class="quiet">${before}</span>`
  if (before === '') return html`<span class="quiet">now ${after}</span>`
  if (after === '') return html`<span class="quiet">no longer ${before}</span>`
  return html`<span class="quiet">${before} → ${after}</span>`
}
