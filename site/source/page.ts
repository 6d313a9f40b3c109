import { cratePath, sourcePath, versionPath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import type { ArchiveFile } from '../../core/tarball/read.ts'
import type { VersionData } from '../crate-data.ts'
import { icon } from '../elements/elements.ts'
import { linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { checkBox, packageData, unpackedMost } from './package.ts'

/**
 * Renders the page of a version's files: their list, which a script replaces by the files, read
 * from the `.crate`. `files` are null if they cannot be read.
 */
export function sourcePage(
  site: SiteConfig,
  version: VersionData,
  files: readonly ArchiveFile[] | null,
): Output {
  const { name, version: number, size, contents, repository, vcs_path } = version
  const path = sourcePath(name, number)
  const to = linker(site, path)
  const place = html` data-repository="${repository ?? ''}" data-vcs-path="${vcs_path ?? ''}" data-images="${site.images}"`
  const main = html`<div class="wide page sources" data-sources${packageData(site, name, to)} data-version="${number}" data-size="${size}" data-unpacked="${unpackedMost(size, contents)}"${place}>
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, number))}">${number}</a><span>Source</span></nav>
<h1>Source of ${name} ${number}</h1>
${checkBox('The texts of the files')}
<p>${icon('download')} <a href="${version.download}" rel="nofollow">Download the package</a> <span class="quiet">${formatBytes(size)}</span></p>
<div data-view hidden></div>
<section data-list aria-label="Files">${files === null ? html`<p class="notice">The list of files could not be read from the package.</p>` : fileList(files)}</section>
</div>`
  const title = `Source of ${name} ${number}`
  return output(path, layout(site, { path, title, main, canonical: null, part: 'sources' }))
}

function fileList(files: readonly ArchiveFile[]): Markup {
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return html`<h2>${counted(files.length, 'file')}, ${formatBytes(bytes)}</h2>
<ul class="plain files">
${sorted.map(file => html`<li>${file.path} <span class="quiet">${formatBytes(file.size)}</span></li>\n`)}</ul>`
}
