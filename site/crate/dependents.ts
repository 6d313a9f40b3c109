import { cratePath } from '../../core/paths/crates.ts'
import type { CrateData } from '../data/crate.ts'
import { formatNumber, plural } from '../elements/amount.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'

/** The crates of this registry that depend on a crate. */
export function dependentSection(
  { dependents, dependentCount }: Pick<CrateData, 'dependents' | 'dependentCount'>,
  to: Linker,
): Markup {
  const more = dependentCount - dependents.length
  const one = dependentCount === 1
  return html`<p class="quiet">${plural(dependentCount, 'crate')} in this registry ${one ? 'depends' : 'depend'} on it with ${one ? 'its' : 'their'} newest version.</p>
<ul class="rows">
${dependents.map(
  one => html`<li><div class="row-head"><a href="${to(cratePath(one.name))}"><strong>${one.name}</strong></a> <span class="quiet">${one.version}</span>
<span class="note">requires</span> <code class="requirement">${one.req}</code>
${one.kind === 'normal' ? null : html`<span class="badge">${one.kind}</span>`}
${one.optional ? html`<span class="badge">optional</span>` : null}</div></li>
`,
)}</ul>
${more > 0 ? html`<p class="quiet">and ${formatNumber(more)} more.</p>` : null}`
}
