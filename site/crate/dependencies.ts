import type { Dependency } from '../../core/entry/entry.ts'
import { cratePath } from '../../core/paths/crates.ts'
import type { Linker } from '../elements/links.ts'
import { html, join, type Markup } from '../elements/markup.ts'
import { originOf } from '../elements/origin.ts'
import type { SiteConfig } from '../site-config.ts'

const KINDS = [
  ['normal', 'Dependencies'],
  ['build', 'Build dependencies'],
  ['dev', 'Development dependencies'],
] as const

/** The dependencies of a version, by kind. */
export function dependencySection(
  site: SiteConfig,
  dependencies: readonly Dependency[],
  to: Linker,
): Markup {
  return html`${KINDS.map(([kind, title]) => {
    const some = dependencies.filter(one => one.kind === kind)
    if (some.length === 0) return null
    return html`<h3>${title} <span class="quiet">${some.length}</span></h3>
<ul class="rows">
${some.map(one => row(site, one, to))}</ul>
`
  })}`
}

function row(site: SiteConfig, dependency: Dependency, to: Linker): Markup {
  const real = dependency.package ?? dependency.name
  const origin = dependency.registry === null ? null : originOf(site, dependency.registry, real)
  const link = origin === null ? to(cratePath(real)) : origin.url
  return html`<li><div class="row-head">
${link === null ? html`<strong>${real}</strong>` : html`<a href="${link}"${origin === null ? null : html` rel="noopener noreferrer"`}><strong>${real}</strong></a>`}
<code class="requirement">${dependency.req}</code>
${dependency.package === null ? null : html`<span class="note">as <code>${dependency.name}</code></span>`}
${dependency.optional ? html`<span class="badge">optional</span>` : null}
${origin === null ? null : html`<span class="note">from ${origin.title}</span>`}
</div>
${dependency.target === null ? null : html`<div class="row-more">only for <code>${dependency.target}</code></div>`}
${featureLine(dependency)}
</li>
`
}

function featureLine({ features, default_features }: Dependency): Markup | null {
  const parts: Markup[] = []
  if (!default_features) parts.push(html`no default features`)
  if (features.length > 0)
    parts.push(html`features ${join(features.map(one => html`<code>${one}</code>`))}`)
  return parts.length === 0 ? null : html`<div class="row-more">${join(parts, '; ')}</div>`
}
