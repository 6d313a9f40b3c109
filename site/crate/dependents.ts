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
  const verb = dependentCount === 1 ? 'depends' : 'depend'
  return html`<p class="quiet">The newest version of ${plural(dependentCount, 'crate')} in this registry ${verb} on it.</p>
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
