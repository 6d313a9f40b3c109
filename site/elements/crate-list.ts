import { cratePath } from '../../core/paths/crates.ts'
import type { CrateItem } from '../data/crate.ts'
import type { Linker } from './links.ts'
import { html, type Markup } from './markup.ts'
import { timeTag } from './time.ts'

/** A list of crates: name, version, description, date. */
export function crateList(crates: readonly CrateItem[], to: Linker): Markup {
  return html`<ul class="cards">
${crates.map(
  crate => html`<li><a class="card" href="${to(cratePath(crate.name))}">
<span class="card-name"><strong>${crate.name}</strong> <span class="quiet">${crate.newest}</span>${crate.yanked ? html` <span class="badge bad">yanked</span>` : null}</span>
${crate.description === null ? null : html`<span class="card-text">${crate.description}</span>`}
${crate.updatedAt === null ? null : html`<span class="card-date quiet">${timeTag(crate.updatedAt)}</span>`}
</a></li>
`,
)}</ul>`
}
