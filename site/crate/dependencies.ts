import type { Dependency } from '../../core/entry/entry.ts'
import { isCratesIo } from '../../core/index-url.ts'
import { canonicalName } from '../../core/name.ts'
import { badgePath, cratePath } from '../../core/paths/crates.ts'
import { impactPath } from '../../core/paths/dependents.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import type { CrateData } from '../crate-data.ts'
import { cut } from '../elements/elements.ts'
import { type Linker, webLink } from '../elements/links.ts'
import { html, join, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { itemCodes } from './features.ts'

const KINDS = [
  ['normal', 'Normal dependencies'],
  ['build', 'Build dependencies'],
  ['dev', 'Development dependencies'],
] as const

/** The most dependencies of a kind that a page lists. */
const DEPENDENCIES_SHOWN = 1000

/**
 * Renders the dependencies of a version, by kind. A name links to the registry that Cargo takes the
 * crate from; `namesakes` has this registry's crates with the same names as foreign ones. A long
 * list is cut, with a link to `record`, which has all of them.
 */
export function dependencySection(
  site: SiteConfig,
  dependencies: readonly Dependency[],
  to: Linker,
  record: string,
  namesakes: CrateData['namesakes'] = new Map(),
): Markup {
  return html`${KINDS.map(([kind, title]) => {
    const ofKind = dependencies.filter(dep => dep.kind === kind)
    if (ofKind.length === 0) return null
    const more = ofKind.length - DEPENDENCIES_SHOWN
    return html`<h3>${title} <span class="quiet">${formatNumber(ofKind.length)}</span></h3>
<ul class="rows">
${ofKind.slice(0, DEPENDENCIES_SHOWN).map(dep => row(site, dep, to, namesakes))}</ul>
${
  more > 0
    ? html`<p class="quiet">These are the first ${formatNumber(DEPENDENCIES_SHOWN)}. <a href="${record}">crate.json</a> has all of them.</p>
`
    : null
}`
  })}`
}

function row(
  site: SiteConfig,
  dependency: Dependency,
  to: Linker,
  namesakes: CrateData['namesakes'],
): Markup {
  const real = dependency.package ?? dependency.name
  const origin = dependency.registry === null ? null : originOf(site, dependency.registry, real)
  const twin = origin === null ? undefined : namesakes.get(canonicalName(real))
  const link = origin === null ? to(cratePath(real)) : origin.url
  // A script says which version here is the newest; the badge does, where there are no scripts.
  const newest =
    origin === null &&
    html` <noscript><img src="${to(badgePath(real))}" height="20" alt="newest ${cut(real)} here"></noscript>`
  return html`<li><div class="row-head">
${link === null ? html`<strong>${cut(real)}</strong>` : html`<a href="${link}"${origin === null ? null : html` rel="noopener noreferrer"`}><strong>${cut(real)}</strong></a>`}
<code class="requirement">${cut(dependency.req)}</code>${dependency.package === null ? null : html` <span class="note">as <code>${cut(dependency.name)}</code></span>`}${dependency.optional ? html` <span class="badge">optional</span>` : null}${origin === null ? null : html` <span class="note">from ${origin.title}${twin && html`; <a href="${to(cratePath(twin))}">also in this registry</a>`}</span>`}${newest}</div>${dependency.target === null ? null : html`<div class="row-more">only for <code>${cut(dependency.target)}</code></div>`}${featureLine(dependency)}</li>
`
}

function featureLine({ features, default_features }: Dependency): Markup | null {
  const parts: Markup[] = []
  if (!default_features) parts.push(html`no default features`)
  if (features.length > 0) parts.push(html`features ${itemCodes(features)}`)
  return parts.length === 0 ? null : html`<div class="row-more">${join(parts, '; ')}</div>`
}

/** Returns the title of the registry with this index URL, and its page of a crate, if known. */
export function originOf(
  { registries }: Pick<SiteConfig, 'registries'>,
  index: string,
  name: string,
): { readonly title: string; readonly url: string | null } {
  const page = encodeURIComponent(name)
  const slashless = index.replace(/\/$/, '')
  const match = registries.find(registry => registry.index.replace(/\/$/, '') === slashless)
  if (match) return { title: match.title, url: webLink(match.page.replaceAll('{crate}', page)) }
  if (isCratesIo(index)) return { title: 'crates.io', url: `https://crates.io/crates/${page}` }
  const url = webLink(index.replace(/^(sparse|registry)\+/, ''))
  return { title: url === null ? cut(index) : new URL(url).host, url: null }
}

/** Renders the crates of this registry that depend on a crate, or on its namesake elsewhere. */
export function dependentSection(
  site: SiteConfig,
  { name, dependents, dependentCount }: Pick<CrateData, 'name' | 'dependents' | 'dependentCount'>,
  to: Linker,
): Markup {
  if (dependentCount === 0) return html`<p class="quiet">No crate here depends on ${name}.</p>`
  const more = dependentCount - dependents.length
  const all = to(impactPath(canonicalName(name)))
  const sentence =
    dependentCount === 1
      ? `The newest version of one crate here depends on ${name}.`
      : `The newest versions of ${counted(dependentCount, 'crate')} here depend on ${name}.`
  const isMixed = dependents.some(row => row.registry !== null)
  const isNormal = dependents.every(row => row.kind === 'normal')
  const origins = 'Where another registry is named, Cargo takes the crate of this name from there.'
  return html`<p class="quiet">${sentence}${isMixed ? ` ${origins}` : null} <a href="${all}">What requires it</a></p>
${isNormal ? null : html`<label class="choice"><input type="checkbox" class="normal-only"> Normal dependencies only</label>`}
<ul class="rows">
${dependents.map(
  dependent => html`<li${dependent.kind === 'normal' ? null : html` class="not-normal"`}><div class="row-head"><a href="${to(cratePath(dependent.name))}"><strong>${dependent.name}</strong></a> <span class="quiet">${dependent.version}</span>
<span class="note">requires</span> <code class="requirement">${cut(dependent.req)}</code>${dependent.kind === 'normal' ? null : html` <span class="badge">${dependent.kind}</span>`}${dependent.optional ? html` <span class="badge">optional</span>` : null}${dependent.registry === null ? null : html` <span class="note">from ${originOf(site, dependent.registry, '').title}</span>`}</div></li>
`,
)}</ul>
${more > 0 ? html`<p>These are the first ${dependents.length}. <a href="${all}">Show what requires it</a></p>` : null}`
}
