import { comparePath, cratePath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import type { CrateData } from '../crate-data.ts'
import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { checkBox, packageData, unpackedMost } from './package.ts'

/** Renders the page that compares the files of two versions of a crate, which a script does. */
export function comparePage(
  site: SiteConfig,
  { name, versions }: Pick<CrateData, 'name' | 'versions'>,
): Output {
  const path = comparePath(name)
  const to = linker(site, path)
  const choice = (field: string, chosen: string | undefined) =>
    html`<select name="${field}">${versions.map(
      ({ version, size, contents }) =>
        html`<option value="${version}" data-size="${size}" data-unpacked="${unpackedMost(size, contents)}"${version === chosen ? html` selected` : null}>${version}</option>`,
    )}</select>`
  const main = html`<div class="wide page sources" data-compare${packageData(site, name, to)}>
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><span>Compare</span></nav>
<h1>Compare versions of ${name}</h1>
<form class="compare-form" method="get">
<label>From ${choice('from', versions[1]?.version)}</label> <label>to ${choice('to', versions[0]?.version)}</label>
<button type="submit" class="button">Compare</button> <button type="button" class="button" data-swap hidden>Swap</button>
</form>
${checkBox('Comparisons')}
<div data-view hidden></div>
</div>`
  const title = `Compare versions of ${name}`
  return output(path, layout(site, { path, title, main, canonical: null, part: 'sources' }))
}
