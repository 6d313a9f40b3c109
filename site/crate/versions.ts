import { type Linker, versionPath } from '../address.ts'
import { bytes } from '../amount.ts'
import type { VersionRow } from '../crate-facts.ts'
import type { Markup } from '../markup.ts'
import { html } from '../markup.ts'
import { momentTag } from '../moment.ts'

/** All versions of a crate, with a filter that appears when the script has run. */
export function versionSection(name: string, versions: readonly VersionRow[], to: Linker): Markup {
  return html`<div class="filter" data-filter="version-rows" hidden><label>Filter <input type="search" autocomplete="off" placeholder="1.2, yanked, a publisher"></label> <output></output></div>
<div class="scroll" role="region" aria-label="Versions" tabindex="0"><table class="versions">
<thead><tr><th scope="col">Version</th><th scope="col">Published</th><th scope="col">By</th><th scope="col">Rust</th><th scope="col" class="number">Size</th></tr></thead>
<tbody id="version-rows">
${versions.map(
  row => html`<tr${row.yanked ? html` class="yanked"` : null}><th scope="row"><a href="${to(versionPath(name, row.version))}">${row.version}</a>${row.yanked ? html` <span class="badge bad">yanked</span>` : null}</th><td>${momentTag(row.published)}</td><td>${row.publisher ?? '–'}</td><td>${row.rustVersion ?? '–'}</td><td class="number">${bytes(row.size)}</td></tr>
`,
)}</tbody>
</table></div>`
}
