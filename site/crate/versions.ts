import { versionPath } from '../../core/paths/crates.ts'
import type { VersionRow } from '../data/crate.ts'
import { formatBytes } from '../elements/amount.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { timeTag } from '../elements/time.ts'

/** All versions of a crate, with a filter that a script shows. */
export function versionSection(name: string, versions: readonly VersionRow[], to: Linker): Markup {
  // A static tree knows neither times nor publishers.
  const hasTimes = versions.some(row => row.published !== null)
  const hasPeople = versions.some(row => row.publisher !== null)
  const example = hasPeople ? '1.2, yanked, a publisher' : '1.2, yanked'
  return html`<div class="filter" data-filter="version-rows" hidden><label>Filter <input type="search" autocomplete="off" placeholder="${example}"></label> <output></output></div>
<div class="scroll" role="region" aria-label="Table of versions" tabindex="0"><table class="versions">
<thead><tr><th scope="col">Version</th>${hasTimes ? html`<th scope="col">Published</th>` : null}${hasPeople ? html`<th scope="col">By</th>` : null}<th scope="col">Rust</th><th scope="col" class="number">Size</th></tr></thead>
<tbody id="version-rows">
${versions.map(
  row => html`<tr${row.yanked ? html` class="yanked"` : null}><th scope="row"><a href="${to(versionPath(name, row.version))}">${row.version}</a>${row.yanked ? html` <span class="badge bad">yanked</span>` : null}</th>${hasTimes ? html`<td>${timeTag(row.published)}</td>` : null}${hasPeople ? html`<td>${row.publisher ?? '–'}</td>` : null}<td>${row.rustVersion ?? '–'}</td><td class="number">${formatBytes(row.size)}</td></tr>
`,
)}</tbody>
</table></div>`
}
