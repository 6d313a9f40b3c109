import {
  compareFormPath,
  comparePath,
  cratePath,
  sourcePath,
  versionPath,
} from '../../core/paths/crates.ts'
import { formatNumber } from '../../core/quantity.ts'
import { changeList, manifestChanges } from '../crate/changes.ts'
import { compareForm } from '../crate/compare-form.ts'
import type { ComparedVersion } from '../crate-data.ts'
import { type Linker, linker } from '../elements/links.ts'
import { type Child, html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { type SourceFile, shownFiles } from '../source/files.ts'
import { fileDiffs } from './file-diff.ts'
import { fileSum } from './file-sum.ts'

/** One side of a comparison. */
export interface Side {
  readonly version: ComparedVersion
  /** Whether the pages of its source are there by now. */
  readonly hasPages: boolean
}

/** Two versions of a crate that are compared. */
export interface Comparison {
  readonly site: SiteConfig
  /** Path of the page. */
  readonly path: string
  readonly name: string
  readonly before: Side
  readonly after: Side
  /** All versions to choose from, newest first; null where nothing answers the form. */
  readonly versions: readonly string[] | null
}

/** Maximum number of changed files that are listed. */
const FILES_MAX = 1000

/** Renders the page that compares two versions: manifest, list of changed files, their lines. */
export function comparisonPage(
  comparison: Comparison,
  files: { readonly before: readonly SourceFile[]; readonly after: readonly SourceFile[] },
): string {
  const { site, path, name, before, after } = comparison
  const to = linker(site, path)
  const pagesOf = ({ version, hasPages }: Side, all: readonly SourceFile[]) =>
    new Map(
      hasPages
        ? shownFiles(name, version.version, all).map(one => [one.file.path, to(one.pages[0])])
        : [],
    )
  const diffs = fileDiffs(files, {
    before: pagesOf(before, files.before),
    after: pagesOf(after, files.after),
  })
  const shown = diffs.slice(0, FILES_MAX)
  const list = html`<ul class="plain changed-files">
${shown.map(
  ({ pair, counts }, at) => html`<li><a href="#file-${at + 1}">${pair.path}</a> ${counts}</li>
`,
)}</ul>`
  const isCut = diffs.length > FILES_MAX
  return page(comparison, to, fileSum(diffs), [
    html`<section aria-label="Files"><h2>Files</h2>
${diffs.length === 0 ? html`<p>No file differs.</p>` : null}
${isCut ? html`<p>The first ${formatNumber(FILES_MAX)} files are shown.</p>` : null}
${shown.length > 1 ? list : null}
${shown.map(({ content }, at) => content(`file-${at + 1}`))}</section>`,
  ])
}

/** Renders the page of versions whose files cannot be compared; `because` is a clause. */
export function comparisonNotice(comparison: Comparison, because: string): string {
  return page(comparison, linker(comparison.site, comparison.path), null, [
    html`<p class="notice">The files are not compared here because ${because}; the packages have them.</p>`,
  ])
}

function page(
  comparison: Comparison,
  to: Linker,
  sum: Markup | null,
  content: readonly Child[],
): string {
  const { site, path, name, versions } = comparison
  const [before, after] = [comparison.before.version, comparison.after.version]
  const title = `Changes from ${before.version} to ${after.version}`
  const groups = manifestChanges(site, before, after)
  const manifest = html`<section class="manifest" aria-label="Manifest"><h2>Manifest</h2>
${groups.length === 0 ? html`<p>Nothing that Cargo reads differs, except the version.</p>` : changeList(groups)}</section>`
  const chosen = [before.version, after.version] as const
  const form = versions && compareForm(to(compareFormPath(name)), versions, ...chosen)
  const main = html`<div class="wide page compare">
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, after.version))}">${after.version}</a><span>Changes</span></nav>
<h1>${title}</h1>
${sum}
${sides(comparison, to)}
${form}
${manifest}
${content}
</div>`
  return layout(site, { path, title: `${title} · ${name}`, main, canonical: null })
}

function sides({ site, name, before, after, versions }: Comparison, to: Linker): Markup {
  const source = ({ version, hasPages }: Side) =>
    hasPages
      ? html`<a href="${to(sourcePath(name, version.version))}">Source of ${version.version}</a>`
      : null
  const turned = to(comparePath(name, after.version.version, before.version.version))
  const links = [
    source(before),
    source(after),
    versions === null ? null : html`<a href="${turned}">Swap the versions</a>`,
    versions === null && site.api
      ? html`<a href="${to(compareFormPath(name))}">Compare other versions</a>`
      : null,
  ]
  return html`<p class="compare-links">${links}</p>`
}
