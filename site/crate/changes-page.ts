import {
  changesPath,
  comparePath,
  cratePath,
  sourcePath,
  versionPath,
} from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import type { ComparedVersion, VersionData } from '../crate-data.ts'
import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { changeList, manifestChanges } from './changes.ts'

/** Renders the page with a version's changes in its manifest since the previous version. */
export function changesPage(
  site: SiteConfig,
  after: Pick<VersionData, 'name'> & ComparedVersion,
  before: ComparedVersion,
): Output {
  const { name, version } = after
  const path = changesPath(name, version)
  const to = linker(site, path)
  const groups = manifestChanges(site, before, after)
  const title = `Changes from ${before.version} to ${version}`
  const source = (number: string) =>
    html`<a href="${to(sourcePath(name, number))}">Source of ${number}</a>`
  const main = html`<div class="wide page compare">
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, version))}">${version}</a><span>Changes</span></nav>
<h1>${title}</h1>
<p class="compare-links"><a href="${to(comparePath(name))}#${before.version}...${version}">Compare the files</a> ${source(before.version)} ${source(version)}</p>
<section class="manifest" aria-label="Manifest"><h2>Manifest</h2>
${groups.length === 0 ? html`<p>Nothing that Cargo reads differs, except the version.</p>` : changeList(groups)}</section>
</div>`
  return output(path, layout(site, { path, title: `${title} · ${name}`, main, canonical: null }))
}
