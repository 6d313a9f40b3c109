import { cratePath } from '../../core/paths/crates.ts'
import type { CrateData } from '../data/crate.ts'
import { count, plural } from '../elements/amount.ts'
import type { Linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'

/** Crates of this registry that depend on a crate. */
export function dependentSection(
  crate: Pick<CrateData, 'dependents' | 'dependentCount'>,
  to: Linker,
): Markup {
  const { dependents, dependentCount } = crate
  if (dependentCount === 0)
    return html`<p class="quiet">No crate of this registry depends on it.</p>`
  const more = dependentCount - dependents.length
  return html`<p class="quiet">${plural(dependentCount, 'crate')} of this registry, by what ${dependentCount === 1 ? 'its' : 'their'} newest version asks for.</p>
<ul class="rows">
${dependents.map(
  one => html`<li><div class="row-head"><a href="${to(cratePath(one.name))}"><strong>${one.name}</strong></a> <span class="quiet">${one.version}</span>
<span class="note">asks for</span> <code class="requirement">${one.req}</code>
${one.kind === 'normal' ? null : html`<span class="badge">${one.kind}</span>`}
${one.optional ? html`<span class="badge">optional</span>` : null}</div></li>
`,
)}</ul>
${more > 0 ? html`<p class="quiet">and ${count(more)} more.</p>` : null}`
}
