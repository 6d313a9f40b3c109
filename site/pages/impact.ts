import type { Dependent } from '../../core/impact/dependents.ts'
import type { CanonicalName } from '../../core/name.ts'
import { cratePath } from '../../core/paths/crates.ts'
import { dependentsPath, impactPath } from '../../core/paths/dependents.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { copyBlock } from '../elements/elements.ts'
import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** Renders which versions require a crate, if there are few, and how to find what these reach. */
export function impactPage(
  site: SiteConfig,
  name: CanonicalName,
  dependents: readonly Dependent[] | null,
): Output {
  const path = impactPath(name)
  const to = linker(site, path)
  const rows = dependents?.flatMap(({ crate, requires }) =>
    requires.map(
      ({ requirement, kind, registry, versions }) =>
        html`<li><div class="row-head"><a href="${to(cratePath(crate))}"><strong>${crate}</strong></a> <span class="note">requires</span> <code class="requirement">${requirement}</code>
${kind === 'normal' ? null : html`<span class="badge">${kind}</span>`}
${registry === null ? null : html`<span class="note">from ${registry}</span>`}</div><div class="row-more">in ${versions.join(', ')}</div></li>\n`,
    ),
  )
  const title = `What requires ${name}`
  const main = html`<div class="wide page"><h1>${title}</h1>
<p>This command follows all of it, also through other crates, and says whether Cargo takes an affected version; <code>--report</code> writes it down:</p>
${copyBlock(`plimsoll impact '${name}@<1.2.3'`, 'command')}
${rows ? html`<ul class="rows">\n${rows}</ul>` : html`<p>Too many crates require it for one page: <a href="${to(dependentsPath(name))}">the files</a> name all.</p>`}
</div>`
  return output(path, layout(site, { path, title, main }))
}
