// site/pages: The pages of the whole registry. Projections and daemon call it; it never reads
// records.
import { categoriesPath, keywordsPath, statisticsPath } from '../../core/paths/listings.ts'
import { frontPath, listPath, type Output, output } from '../../core/paths/tree.ts'
import { counted } from '../../core/quantity.ts'
import type { CrateItem } from '../crate-data.ts'
import { cargoConfig, copyBlock, crateList } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { assetPath } from '../layout/assets.ts'
import { layout, searchForm } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { keywordLinks, type LabelItem } from './labels.ts'

export interface FrontData {
  readonly crates: number
  readonly versions: number
  readonly newest: readonly CrateItem[]
  /** Crates with a new version, newest first. */
  readonly updated: readonly CrateItem[]
  /** The first crates by name, instead of both lists if no times are known. */
  readonly first?: readonly CrateItem[]
  readonly keywords: readonly LabelItem[]
  /** The crate in the example `cargo add` command; null if there is none to add. */
  readonly example: string | null
  /** Whether an import is adding crates. */
  readonly isFilling?: boolean
}

const READY = html`<h2>No crates yet</h2><p>The registry is ready. The first crate you publish shows up here.</p>`

const IMPORTING = html`<h2>Crates are on their way</h2><p>An import is filling this registry. The first crates show up here in a moment.</p>`

/** Renders the front page. */
export function frontPage(site: SiteConfig, data: FrontData): Output {
  const to = linker(site, frontPath)
  const lists = [
    { id: 'updated', title: 'Just updated', crates: data.updated },
    { id: 'newest', title: 'New crates', crates: data.newest },
    { id: 'first', title: 'Crates', crates: data.first ?? [] },
  ].filter(list => list.crates.length > 0)
  const main = html`<section class="hero">
<div class="waterline"><img src="${to(assetPath('mark.svg'))}" alt="" width="96" height="96"></div>
<h1>${site.title}</h1>
<p class="lead">${site.description}</p>
${searchForm(to, '')}
<p class="counts">${counted(data.crates, 'crate')}, ${counted(data.versions, 'version')}${data.isFilling ? ' so far: an import is adding more' : ''}</p>
<nav class="browse" aria-label="Browse"><ul class="tags">
<li><a href="${to(listPath(''))}">All crates</a></li>
<li><a href="${to(categoriesPath)}">Categories</a></li>
<li><a href="${to(keywordsPath)}">Keywords</a></li>
<li><a href="${to(statisticsPath)}">Statistics</a></li>
${site.upstreams ? html`<li><a href="${to(account.upstreams)}">Upstreams</a></li>` : null}</ul></nav>
</section>
${steps(site, data.example ?? 'NAME', to)}
${
  data.crates === 0
    ? html`<section class="empty wide">${data.isFilling ? IMPORTING : READY}</section>`
    : html`<div class="wide columns">
${lists.map(
  list => html`<section aria-labelledby="${list.id}"><h2 id="${list.id}">${list.title}</h2>${crateList(list.crates, to)}</section>
`,
)}</div>
${keywords(data.keywords, to)}`
}`
  const { title, description } = site
  return output(frontPath, layout(site, { path: frontPath, title, description, main }))
}

function keywords(items: readonly LabelItem[], to: Linker): Markup | null {
  if (items.length === 0) return null
  return html`<section class="wide popular" aria-labelledby="keywords"><h2 id="keywords">Popular keywords</h2>
${keywordLinks(items, to)}</section>`
}

function steps(site: SiteConfig, example: string, to: Linker): Markup {
  const { registry } = site
  const add = `cargo add ${example} --registry ${registry}`
  const publish = `cargo login --registry ${registry}\ncargo publish --registry ${registry}`
  return html`<section class="start wide" aria-labelledby="use">
<h2 id="use">Use this registry</h2>
<div class="steps">
<div><h3>1. Tell Cargo where it is</h3><p>In <code>.cargo/config.toml</code> in your project or home folder:</p>${cargoConfig(site)}</div>
<div><h3>2. Add a crate</h3><p>Cargo writes the dependency into <code>Cargo.toml</code>:</p>${copyBlock(add, 'cargo add command')}</div>
${site.api ? html`<div><h3>3. Publish your own</h3><p>Create a token in <a href="${to(account.home)}">your account</a>, run this and paste your token:</p>${copyBlock(publish, 'publish commands')}</div>` : null}
</div>
</section>`
}
