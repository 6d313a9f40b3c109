import type { CrateCard } from '../facts/crate.ts'
import { cratePath, type Linker } from './links.ts'
import type { Markup } from './markup.ts'
import { html } from './markup.ts'
import { momentTag } from './moment.ts'

/** Crates as a list: name, version, what it is, when it changed. */
export function crateCards(crates: readonly CrateCard[], to: Linker): Markup {
  return html`<ul class="cards">
${crates.map(
  crate => html`<li><a class="card" href="${to(cratePath(crate.name))}">
<span class="card-name"><strong>${crate.name}</strong> <span class="quiet">${crate.version}</span>${crate.yanked ? html` <span class="badge bad">yanked</span>` : null}</span>
${crate.description === null ? null : html`<span class="card-text">${crate.description}</span>`}
${crate.updated === null ? null : html`<span class="card-date quiet">${momentTag(crate.updated)}</span>`}
</a></li>
`,
)}</ul>`
}
