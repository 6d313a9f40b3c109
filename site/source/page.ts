// site/source: Pages of the files of a version, and their addresses. Projections and scripts call
// it; it unpacks none.
import type { Name } from '../../core/name.ts'
import { comparePath, cratePath, sourcePath, versionPath } from '../../core/paths/crates.ts'
import { frontPath, indexPath, type Output, output } from '../../core/paths/tree.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import type { Contents } from '../../core/tarball/contents.ts'
import type { ArchiveFile } from '../../core/tarball/read.ts'
import type { CrateData, VersionData } from '../crate-data.ts'
import { icon, trail } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

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
${trail(to, [cratePath(name), name], [versionPath(name, number), number], 'Source')}
<h1>Source of ${name} ${number}</h1>
${checkBox('The texts of the files')}
<p>${icon('download')} <a href="${version.download}" rel="nofollow">Download the package</a> <span class="quiet">${formatBytes(size)}</span></p>
<div data-view hidden></div>
<section data-list aria-label="Files">${files === null ? html`<p class="notice">The list of files could not be read from the package.</p>` : fileList(files)}</section>
</div>`
  const title = `Source of ${name} ${number}`
  return output(path, layout(site, { path, title, main, canonical: null, part: 'sources' }))
}

/** The most files that are listed for readers without scripts. */
const FILES_SHOWN = 1000

function fileList(files: readonly ArchiveFile[]): Markup {
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const more = files.length - FILES_SHOWN
  return html`<h2>${counted(files.length, 'file')}, ${formatBytes(bytes)}</h2>
<ul class="plain files">
${sorted.slice(0, FILES_SHOWN).map(file => html`<li>${file.path} <span class="quiet">${formatBytes(file.size)}</span></li>\n`)}</ul>${more > 0 ? html`<p class="quiet">${counted(more, 'more file')} ${more === 1 ? 'is' : 'are'} in the package.</p>` : null}`
}

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
${trail(to, [cratePath(name), name], 'Compare')}
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

/** Cargo's own limits for unpacking (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/** The headers of one file with a long name, and the padding after it. */
const FILE_EXTRA = 4096

/** Bytes for folders and the end of an archive. */
const ARCHIVE_EXTRA = 1024 * 1024

/** Returns the maximum number of bytes that a browser unpacks, from the package's contents. */
function unpackedMost(size: number, contents: Contents | null): number {
  if (contents === null) return Math.max(UNPACKED_MAX, RATIO_MAX * size)
  return contents.bytes + contents.files * FILE_EXTRA + ARCHIVE_EXTRA
}

/** Renders the attributes that tell a script where the packages of a crate are. */
function packageData(site: SiteConfig, name: string, to: Linker): Markup {
  const { base, dl } = site
  // Relative, so that the tree works at any URL.
  const template = dl.startsWith(`${base}/`) ? to(frontPath) + dl.slice(base.length + 1) : dl
  return html` data-checksum="unchecked" data-name="${name}" data-dl="${template}" data-index="${to(indexPath(name as Name))}"`
}

/** Renders the place of the check's result, and an explanation of what the check proves. */
function checkBox(what: string): Markup {
  return html`<div class="notice check">
<p role="status" data-state>Not checked. ${what} need JavaScript, which loads the package and checks it.</p>
<div data-ask></div>
<details class="small"><summary>What the check proves</summary>
<p>Your browser computes the SHA-256 of the package and compares it with the one in the index line
of this version, as Cargo does before it builds. So you see the bytes that the index of this host
names, and that Cargo would unpack. The check does not prove who wrote them, nor that the repository
has the same. It cannot notice a host that changes its index and its packages together.</p>
</details>
</div>`
}
