import { type Output, output } from '../../core/output.ts'
import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { sourceFilePath, sourcePath } from '../../core/paths/source.ts'
import { formatBytes, plural } from '../elements/elements.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { fileText, fileTree, type SourceFile } from './files.ts'
import { numberedLines } from './lines.ts'

interface SourceVersion {
  readonly name: string
  readonly version: string
}

/** The source browser of one version. */
export interface SourceData extends SourceVersion {
  readonly files: readonly SourceFile[]
}

/** Most files of a version that get a page. */
const PAGES_MAX = 1000

/** Most files of the same folder that are listed beside a file. */
const SIBLINGS_MAX = 100

/** A file that has a page. */
interface Shown {
  readonly file: SourceFile
  readonly path: string
  readonly text: string
}

/**
 * All pages of the source browser of a version: the tree, and a page for each text file.
 * `plainBecause` says why code is shown without colors: a clause; null where it has them.
 */
export function* sourcePages(
  site: SiteConfig,
  data: SourceData,
  plainBecause: string | null = null,
): Generator<Output> {
  const shown = shownFiles(data)
  yield treePage(site, data, new Map(shown.map(({ file, path }) => [file, path])))
  const folders = new Map<string, Shown[]>()
  for (const one of shown) {
    const folder = folderOf(one.file)
    const beside = folders.get(folder)
    if (beside) beside.push(one)
    else folders.set(folder, [one])
  }
  for (const one of shown) {
    yield filePage(site, data, one, folders.get(folderOf(one.file)) ?? [], plainBecause)
  }
}

/** The one page of a version whose files cannot be shown; `because` is a clause. */
export function sourceNotice(site: SiteConfig, version: SourceVersion, because: string): Output {
  const text = html`<p class="notice">The files are not shown here because ${because}; the package has them.</p>`
  return page(site, version, null, () => text)
}

function shownFiles({ name, version, files }: SourceData): Shown[] {
  const shown: Shown[] = []
  const taken = new Set<string>()
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = sourceFilePath(name, version, file.path)
    // On file systems that ignore case, two such pages would be one file.
    const folded = path?.normalize('NFC').toLowerCase() ?? ''
    if (path === null || taken.has(folded) || shown.length >= PAGES_MAX) continue
    const text = fileText(file)
    if (text === null) continue
    shown.push({ file, path, text })
    taken.add(folded)
  }
  return shown
}

function treePage(
  site: SiteConfig,
  data: SourceData,
  pages: ReadonlyMap<SourceFile, string>,
): Output {
  const { files } = data
  const size = formatBytes(files.reduce((sum, file) => sum + file.size, 0))
  const lead = html`<p class="lead">${plural(files.length, 'file')}, ${size}. Files without a link are binary, too large, or have a name that some hosts do not allow.</p>`
  const tree = (to: Linker) => fileTree(files, file => pages.get(file) ?? null, to)
  return page(site, data, null, to => html`${lead}\n${tree(to)}`)
}

function filePage(
  site: SiteConfig,
  data: SourceData,
  shown: Shown,
  beside: readonly Shown[],
  plainBecause: string | null,
): Output {
  const { file, text } = shown
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const plain =
    plainBecause === null
      ? null
      : html`<p class="notice">This file is shown without colors because ${plainBecause}.</p>`
  const code = highlight(text, plain === null ? fileLanguage(file.path) : null)
  return page(
    site,
    data,
    shown,
    to => html`<p class="quiet">${plural(lines, 'line')}, ${formatBytes(file.size)}</p>
${plain}<div class="file-body">
<nav class="siblings" aria-label="Files in this folder">${siblings(beside, file, to)}</nav>
<pre class="source" tabindex="0" aria-label="${file.path}"><code>${numberedLines(code)}</code></pre>
</div>`,
  )
}

/** A page of the source browser: that of a file, or the one of all files. */
function page(
  site: SiteConfig,
  { name, version }: SourceVersion,
  shown: Shown | null,
  content: (to: Linker) => Markup,
): Output {
  const path = shown?.path ?? sourcePath(name, version)
  const to = linker(site, path)
  const file = shown?.file.path
  const source = file
    ? html`<a href="${to(sourcePath(name, version))}">Source</a><span>${file}</span>`
    : html`<span>Source</span>`
  const heading = file
    ? html`<h1 class="file-name">${file}</h1>`
    : html`<h1>Source of ${name} ${version}</h1>`
  const main = html`<div class="wide page">
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, version))}">${version}</a>${source}</nav>
${heading}
${content(to)}
</div>`
  const title = `${file ? `${file} ·` : 'Source of'} ${name} ${version}`
  return output(path, layout(site, { path, title, main, canonical: null }))
}

function siblings(beside: readonly Shown[], file: SourceFile, to: Linker): Markup {
  const folder = folderOf(file).length
  return html`<ul class="plain">${beside.slice(0, SIBLINGS_MAX).map(one => {
    const current = one.file === file ? html` aria-current="page"` : null
    return html`<li><a href="${to(one.path)}"${current}>${one.file.path.slice(folder)}</a></li>`
  })}</ul>`
}

/** The folder of a file, with the slash at its end. */
function folderOf({ path }: SourceFile): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}
