// site/crate: The pages of one crate. The projection of crates calls it; it never asks for more
// data.

import type { Name } from '../../core/name.ts'
import type { Deprecation } from '../../core/notes/notes.ts'
import {
  badgePath,
  crateFeedPath,
  cratePath,
  crateRecordPath,
  imagePath,
  versionPath,
} from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { formatNumber } from '../../core/quantity.ts'
import { isolated } from '../../core/text.ts'
import type { CrateData, VersionData } from '../crate-data.ts'
import { messageText } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { type Child, html, type Markup, raw } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import { placeFiles } from '../readme/images.ts'
import type { SiteConfig } from '../site-config.ts'
import { advisoryBadge, advisoryNotices } from './advisories.ts'
import { changeSection } from './changes.ts'
import { dependencySection, dependentSection } from './dependencies.ts'
import { allFeatures, featureSection } from './features.ts'
import { sidebar } from './sidebar.ts'
import { otherVersions, versionSection, versionSelector } from './versions.ts'

/** A tab of the page, or a link to one; the stylesheet marks the chosen tab by its id. */
interface Tab {
  readonly id: 'readme' | 'versions' | 'dependencies' | 'features' | 'changes' | 'dependents'
  readonly title: string
  /** Number of items, null if not counted. */
  readonly amount: number | null
  /** Null for a part that only the crate's page has. */
  readonly body: Child
}

/** Renders the page of a crate: its newest version, and a list of all versions. */
export function cratePage(site: SiteConfig, crate: CrateData): Output {
  const { name, newest, versionCount, owners, dependentCount } = crate
  const path = cratePath(name)
  const to = linker(site, path)
  const tabs = [
    readmeTab(newest, to),
    tab('versions', 'Versions', versionCount, versionSection(crate, to)),
    ...contentTabs(site, newest, to, crate),
    tab('dependents', 'Dependents', dependentCount, dependentSection(site, crate, to)),
  ]
  const main = html`<div class="wide crate">
${head(newest, versionSelector(crate, to), 'Every version of this crate', to)}
${parts(tabs, sidebar(site, newest, owners, to, crate.downloads))}
</div>`
  const texts = { title: name, description: newest.description }
  return output(path, layout(site, { path, ...texts, main, feed: crateFeedPath(name) }))
}

/** Renders the page of a version. It mentions no later ones, so that a publish leaves it as is. */
export function versionPage(site: SiteConfig, version: VersionData): Output {
  const { name, description } = version
  const path = versionPath(name, version.version)
  const to = linker(site, path)
  const tabs = [
    readmeTab(version, to),
    tab('versions', 'Versions', null, null),
    ...contentTabs(site, version, to),
    tab('dependents', 'Dependents', null, null),
  ]
  const main = html`<div class="wide crate">
<p class="newest small" data-badge="${to(badgePath(name))}" data-name="${name}" data-number="${version.version}"><a href="${to(cratePath(name))}">← Newest version of ${name}</a></p>
${head(version, otherVersions(version, to), 'This version', to)}
${parts(tabs, sidebar(site, version, null, to), to(cratePath(name)))}
</div>`
  const title = `${name} ${version.version}`
  const [canonical, feed] = [cratePath(name), crateFeedPath(name)]
  return output(path, layout(site, { path, title, description, main, canonical, feed }))
}

function head(version: VersionData, selector: Markup | null, subject: string, to: Linker): Markup {
  const { deprecation, yankReason } = version
  const notice = html`<p class="notice bad" role="note">${subject} is yanked: Cargo uses it only where a <code>Cargo.lock</code> already names it.${!yankReason ? null : html`<br><span class="reason">${yankReason}</span>`}</p>`
  const deprecated = deprecation && deprecationNotice(deprecation, to)
  const notes = html`${deprecated}${advisoryNotices(version, to)}`
  return html`<header class="crate-head">
<div class="title"><h1>${version.name} <span class="version">${version.version}</span>${version.yanked ? html` <span class="badge bad">yanked</span>` : null}${deprecation && html` <span class="badge bad">deprecated</span>`}${advisoryBadge(version)}</h1>${selector}</div>
${version.description === null ? null : html`<p class="lead">${messageText(isolated(version.description))}</p>`}
${version.yanked ? notice : null}${notes}
</header>`
}

function deprecationNotice({ requirement, reason, use }: Deprecation, to: Linker): Markup {
  const all = requirement === '*' ? 'This crate is' : html`Versions <code>${requirement}</code> are`
  const link = use?.startsWith('https://')
    ? html`<a href="${use}" rel="nofollow noopener">${use}</a>`
    : use && html`<a href="${to(cratePath(use))}"><code>${use}</code></a>`
  return html`<p class="notice bad" role="note">${all} deprecated${reason === null ? '.' : html`: <span class="reason">${reason}</span>`}${use === null ? null : html`<br>Use ${link} instead.`}</p>`
}

/** Renders tabs and their bodies; `crate`: the address of the crate's page, which has the others. */
function parts(tabs: readonly Tab[], [above, side]: readonly Child[], crate = ''): Markup {
  // Pages of versions lead to the dependents, and do not know whether there are any.
  const shown = tabs.filter(tab => tab.amount !== 0 || tab.id === 'dependents')
  return html`<nav class="tabs" aria-label="Parts of this page">${shown.map(
    ({ id, title, amount, body }) =>
      html`<a href="${body === null ? crate : null}#${id}">${title}${amount === null ? null : html` <span class="amount">${formatNumber(amount)}</span>`}</a>`,
  )}</nav>
<div class="crate-body">
${above}<div class="content">
${shown
  .filter(({ body }) => body !== null)
  .map(
    ({ id, title, body }) => html`<section class="tab" id="${id}" aria-label="${title}">
${id === 'readme' ? null : html`<h2>${title}</h2>`}
${body}
</section>
`,
  )}</div>
${side}
</div>`
}

function tab(id: Tab['id'], title: string, amount: number | null, body: Child): Tab {
  return { id, title, amount, body }
}

function readmeTab({ name, version, readme, readme_file }: VersionData, to: Linker): Tab {
  const large = html`<code>${readme_file}</code> is too large to be shown here.`
  const none = html`<p class="quiet">${readme_file === null ? 'This version has no README.' : large}</p>`
  const folder = to(imagePath(name, version, 'x')).slice(0, -'images/x'.length)
  return tab('readme', 'Readme', null, readme === null ? none : raw(placeFiles(readme, folder)))
}

function contentTabs(site: SiteConfig, version: VersionData, to: Linker, crate?: CrateData): Tab[] {
  const { deps } = version
  const record = to(crateRecordPath(version.name as Name))
  const list = dependencySection(site, deps, to, record, crate?.namesakes)
  const features = allFeatures(version)
  const changes = changeSection(site, version, to)
  return [
    tab('dependencies', 'Dependencies', deps.length, list),
    tab('features', 'Features', Object.keys(features).length, featureSection(features, record)),
    tab('changes', 'Changes', changes.amount, changes.body),
  ]
}
