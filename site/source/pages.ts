import { type Output, output } from '../../core/output.ts'
import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { sourceFilePath, sourcePath } from '../../core/paths/source.ts'
import { formatBytes, plural } from '../elements/amount.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { fileText, type SourceFile } from './file.ts'
import { numberedLines } from './lines.ts'
import { fileTree } from './tree.ts'

/** The source browser of one version. */
export interface SourceData {
  readonly name: string
  readonly version: string
  readonly files: readonly SourceFile[]
}

/** Most files of a version that get a page. */
const PAGES_MAX = 1000

/** Most files of the same folder that are listed beside a file. */
const SIBLINGS_MAX = 100

/** All pages of the source browser of a version: the tree, and a page for each text file. */
export function* sourcePages(site: SiteConfig, data: SourceData): Generator<Output> {
  const pages = new Map<SourceFile, string>()
  const taken = new Set<string>()
  for (const file of [...data.files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = sourceFilePath(data.name, data.version, file.path)
    // On file systems that ignore case, two such pages would be one file.
    const folded = path?.normalize('NFC').toLowerCase() ?? ''
    if (path === null || taken.has(folded) || pages.size >= PAGES_MAX || fileText(file) === null)
      continue
    pages.set(file, path)
    taken.add(folded)
  }
  yield treePage(site, data, pages)
  for (const [file, path] of pages) yield filePage(site, data, pages, file, path)
}

function treePage(
  site: SiteConfig,
  data: SourceData,
  pages: ReadonlyMap<SourceFile, string>,
): Output {
  const path = sourcePath(data.name, data.version)
  const to = linker(site, path)
  const total = data.files.reduce((sum, file) => sum + file.size, 0)
  const main = html`<div class="wide page">
${trail(data, null, to)}
<h1>Source of ${data.name} ${data.version}</h1>
<p class="lead">${plural(data.files.length, 'file')}, ${formatBytes(total)}. Files without a link are binary, too large, or have a name that some hosts do not allow.</p>
${fileTree(data.files, file => pages.get(file) ?? null, to)}
</div>`
  return source(site, path, `Source of ${data.name} ${data.version}`, main)
}

function filePage(
  site: SiteConfig,
  data: SourceData,
  pages: ReadonlyMap<SourceFile, string>,
  file: SourceFile,
  path: string,
): Output {
  const to = linker(site, path)
  const text = fileText(file) ?? ''
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const main = html`<div class="wide page">
${trail(data, file.path, to)}
<h1 class="file-name">${file.path}</h1>
<p class="quiet">${plural(lines, 'line')}, ${formatBytes(file.size)}</p>
<div class="file-body">
<nav class="siblings" aria-label="Files in this folder">${siblings(pages, file, to)}</nav>
<pre class="source" tabindex="0" aria-label="${file.path}"><code>${numberedLines(highlight(text, fileLanguage(file.path)))}</code></pre>
</div>
</div>`
  return source(site, path, `${file.path} · ${data.name} ${data.version}`, main)
}

function source(site: SiteConfig, path: string, title: string, main: Markup): Output {
  return output(
    path,
    layout(site, { path, title, description: `${title}.`, main, canonical: null }),
  )
}

function trail(data: SourceData, file: string | null, to: Linker): Markup {
  const { name, version } = data
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, version))}">${version}</a>${file === null ? html`<span>Source</span>` : html`<a href="${to(sourcePath(name, version))}">Source</a><span>${file}</span>`}</nav>`
}

function siblings(pages: ReadonlyMap<SourceFile, string>, file: SourceFile, to: Linker): Markup {
  const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1)
  const beside = [...pages.keys()].filter(
    one => one.path.startsWith(folder) && !one.path.slice(folder.length).includes('/'),
  )
  return html`<ul class="plain">${beside.slice(0, SIBLINGS_MAX).map(one => {
    const current = one === file ? html` aria-current="page"` : null
    return html`<li><a href="${to(pages.get(one) ?? '')}"${current}>${one.path.slice(folder.length)}</a></li>`
  })}</ul>`
}
