import { type Output, output } from '../../core/output.ts'
import { crateFeedPath, cratePath, versionPath } from '../../core/paths/crates.ts'
import type { CrateData } from '../data/crate.ts'
import type { VersionData } from '../data/version.ts'
import { type Linker, linker } from '../elements/links.ts'
import type { Child, Markup } from '../elements/markup.ts'
import { html, raw } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { changeSection } from './changes.ts'
import { changes } from './comparison.ts'
import { dependencySection } from './dependencies.ts'
import { dependentSection } from './dependents.ts'
import { allFeatures, featureSection } from './features.ts'
import { installSection, sidebar } from './sidebar.ts'
import { versionSection } from './versions.ts'

/** A part of the page that a reader turns to. */
interface Tab {
  readonly id: string
  readonly title: string
  readonly amount: number | null
  readonly body: Child
}

/** A crate's own page: its newest version, and everything about all versions. */
export function cratePage(site: SiteConfig, crate: CrateData): Output {
  const path = cratePath(crate.name)
  const to = linker(site, path)
  const { newest } = crate
  const tabs: Tab[] = [
    readmeTab(newest),
    {
      id: 'versions',
      title: 'Versions',
      amount: crate.versions.length,
      body: versionSection(crate.name, crate.versions, to),
    },
    ...contentTabs(site, newest, to),
    {
      id: 'dependents',
      title: 'Dependents',
      amount: crate.dependentCount,
      body: dependentSection(crate, to),
    },
  ]
  const notice = newest.yanked
    ? html`<p class="notice bad" role="note">Every version of this crate is yanked: Cargo takes it only where a <code>Cargo.lock</code> already names it.</p>`
    : null
  const side = [installSection(site, newest, false), sidebar(site, newest, crate.owners, to)]
  const main = page(newest, notice, tabs, side, null)
  return output(
    path,
    layout(site, {
      path,
      title: crate.name,
      description: newest.description ?? `The crate ${crate.name} of ${site.title}.`,
      main,
      feed: crateFeedPath(crate.name),
    }),
  )
}

/** The page of one version. It says nothing of later ones, so that a publish leaves it as it is. */
export function versionPage(site: SiteConfig, version: VersionData): Output {
  const path = versionPath(version.name, version.version)
  const to = linker(site, path)
  const notice = version.yanked
    ? html`<p class="notice bad" role="note">This version is yanked: Cargo takes it only where a <code>Cargo.lock</code> already names it.</p>`
    : null
  const main = page(
    version,
    notice,
    [readmeTab(version), ...contentTabs(site, version, to)],
    [installSection(site, version, true), sidebar(site, version, null, to)],
    to(cratePath(version.name)),
  )
  return output(
    path,
    layout(site, {
      path,
      title: `${version.name} ${version.version}`,
      description:
        version.description ?? `Version ${version.version} of the crate ${version.name}.`,
      main,
      canonical: cratePath(version.name),
      feed: crateFeedPath(version.name),
    }),
  )
}

function page(
  version: VersionData,
  notice: Child,
  tabs: readonly Tab[],
  side: Child,
  up: string | null,
): Markup {
  return html`<div class="wide crate">
<header class="crate-head">
${up === null ? null : html`<p class="up"><a href="${up}">← Newest version of ${version.name}</a></p>`}
<h1>${version.name} <span class="version">${version.version}</span>${version.yanked ? html` <span class="badge bad">yanked</span>` : null}</h1>
${version.description === null ? null : html`<p class="lead">${version.description}</p>`}
${notice}
</header>
<nav class="tabs" aria-label="Parts of this page">${tabs.map(
    tab =>
      html`<a href="#${tab.id}">${tab.title}${tab.amount === null ? null : html` <span class="amount">${tab.amount}</span>`}</a>`,
  )}</nav>
<div class="crate-body">
<div class="content">
${tabs.map(
  tab => html`<section class="tab" id="${tab.id}" aria-label="${tab.title}">
${tab.id === 'readme' ? null : html`<h2>${tab.title}</h2>`}
${tab.body}
</section>
`,
)}</div>
${side}
</div>
</div>`
}

function readmeTab({ readme }: VersionData): Tab {
  const body =
    readme === null ? html`<p class="quiet">This version has no README.</p>` : raw(readme)
  return { id: 'readme', title: 'Readme', amount: null, body }
}

function contentTabs(site: SiteConfig, version: VersionData, to: Linker): Tab[] {
  const features = allFeatures(version)
  const tabs: Tab[] = [
    {
      id: 'dependencies',
      title: 'Dependencies',
      amount: version.dependencies.length,
      body: dependencySection(site, version.dependencies, to),
    },
    {
      id: 'features',
      title: 'Features',
      amount: Object.keys(features).length,
      body: featureSection(features),
    },
  ]
  const { previous } = version
  if (previous === null) return tabs
  const list = changes(site, previous, version)
  return [
    ...tabs,
    {
      id: 'changes',
      title: `Since ${previous.version}`,
      amount: list.length,
      body: changeSection(previous.version, list),
    },
  ]
}
