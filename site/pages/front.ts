import { type Output, output } from '../../core/output.ts'
import { frontPath, listPath } from '../../core/paths/pages.ts'
import type { CrateItem } from '../data/crate.ts'
import { plural } from '../elements/amount.ts'
import { crateList } from '../elements/crate-list.ts'
import { configBlock, copyBlock } from '../elements/install.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { assetPath } from '../layout/assets.ts'
import { layout, searchForm } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** What the front page tells about the registry's content. */
export interface FrontData {
  readonly crates: number
  readonly versions: number
  /** Crates published for the first time, newest first. */
  readonly newest: readonly CrateItem[]
  /** Crates with a new version, newest first. */
  readonly updated: readonly CrateItem[]
  /** Instead of both, where no times are known: the first crates by name. */
  readonly first?: readonly CrateItem[]
}

/** The front page. */
export function frontPage(site: SiteConfig, facts: FrontData): Output {
  const to = linker(site, frontPath)
  // Cargo adds none of which every version is yanked.
  const addable = [...facts.updated, ...facts.newest, ...(facts.first ?? [])].find(
    one => !one.yanked,
  )
  const main = html`<section class="hero">
<div class="waterline"><img src="${to(assetPath('mark.svg'))}" alt="" width="96" height="96"></div>
<h1>${site.title}</h1>
<p class="lead">${site.description}</p>
${site.search ? searchForm(to, '') : null}
<p class="counts">${plural(facts.crates, 'crate')}, ${plural(facts.versions, 'version')} · <a href="${to(listPath(''))}">browse all</a></p>
</section>
<section class="start wide" aria-labelledby="use">
<h2 id="use">Use this registry</h2>
<div class="steps">
<div><h3>1. Tell Cargo where it is</h3><p>In <code>.cargo/config.toml</code> of your project or home folder:</p>${copyBlock(configBlock(site), 'registry configuration')}</div>
<div><h3>2. Add a crate</h3><p>Cargo writes the dependency into <code>Cargo.toml</code>:</p>${copyBlock(`cargo add ${addable?.name ?? 'NAME'} --registry ${site.registry}`, 'cargo add command')}</div>
${publishStep(site, to)}
</div>
</section>
${
  facts.crates === 0
    ? html`<section class="empty wide"><h2>No crates yet</h2><p>The registry is ready. The first crate you publish shows up here.</p></section>`
    : showcase(facts, to)
}`
  return output(
    frontPath,
    layout(site, { path: frontPath, title: site.title, description: site.description, main }),
  )
}

function publishStep(site: SiteConfig, to: Linker) {
  if (!site.api) return null
  return html`<div><h3>3. Publish your own</h3><p>With a token from <a href="${to(account.home)}">your account</a>:</p>${copyBlock(`cargo login --registry ${site.registry}\ncargo publish --registry ${site.registry}`, 'publish commands')}</div>`
}

function showcase({ newest, updated, first = [] }: FrontData, to: Linker) {
  if (first.length > 0) {
    return html`<section class="wide" aria-labelledby="first"><h2 id="first">Crates</h2>${crateList(first, to)}</section>`
  }
  const columns = [
    { id: 'updated', title: 'Just updated', crates: updated },
    { id: 'newest', title: 'New crates', crates: newest },
  ].filter(one => one.crates.length > 0)
  return html`<div class="wide columns">
${columns.map(
  one => html`<section aria-labelledby="${one.id}"><h2 id="${one.id}">${one.title}</h2>${crateList(one.crates, to)}</section>
`,
)}</div>`
}
