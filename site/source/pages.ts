import { type Output, output } from '../../core/output.ts'
import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { sourceFilePath, sourcePath } from '../../core/paths/source.ts'
import { bytes, plural } from '../elements/amount.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Linker, linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
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

/** More files than this get no page of their own. */
const PAGES_MAX = 1000

/** Files of one folder that are listed beside one of them. */
const SIBLINGS_MAX = 100

/** All pages of the source browser of a version: the tree, and one page for each file that is text. */
export function* sourcePages(site: SiteConfig, facts: SourceData): Generator<Output> {
  const pages = new Map<SourceFile, string>()
  const taken = new Set<string>()
  for (const file of [...facts.files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = sourceFilePath(facts.name, facts.version, file.path)
    // Where case does not count, two such pages would be one file.
    const folded = path?.normalize('NFC').toLowerCase() ?? ''
    if (path === null || taken.has(folded) || pages.size >= PAGES_MAX || fileText(file) === null)
      continue
    pages.set(file, path)
    taken.add(folded)
  }
  yield treePage(site, facts, pages)
  for (const [file, path] of pages) yield filePage(site, facts, pages, file, path)
}

function treePage(
  site: SiteConfig,
  facts: SourceData,
  pages: ReadonlyMap<SourceFile, string>,
): Output {
  const path = sourcePath(facts.name, facts.version)
  const to = linker(site, path)
  const total = facts.files.reduce((sum, file) => sum + file.size, 0)
  const main = html`<div class="wide page">
${trail(facts, null, to)}
<h1>Source of ${facts.name} ${facts.version}</h1>
<p class="lead">${plural(facts.files.length, 'file')}, ${bytes(total)}. Files without a link are binary, too large to show, or named as not every host allows.</p>
${fileTree(facts.files, file => pages.get(file) ?? null, to)}
</div>`
  return source(site, path, `Source of ${facts.name} ${facts.version}`, main)
}

function filePage(
  site: SiteConfig,
  facts: SourceData,
  pages: ReadonlyMap<SourceFile, string>,
  file: SourceFile,
  path: string,
): Output {
  const to = linker(site, path)
  const text = fileText(file) ?? ''
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const main = html`<div class="wide page">
${trail(facts, file.path, to)}
<h1 class="file-name">${file.path}</h1>
<p class="quiet">${plural(lines, 'line')}, ${bytes(file.size)}</p>
<div class="file-body">
<nav class="siblings" aria-label="Files beside it">${siblings(pages, file, to)}</nav>
<pre class="source" tabindex="0" aria-label="${file.path}"><code>${numberedLines(highlight(text, fileLanguage(file.path)))}</code></pre>
</div>
</div>`
  return source(site, path, `${file.path} · ${facts.name} ${facts.version}`, main)
}

function source(site: SiteConfig, path: string, title: string, main: Markup): Output {
  return output(
    path,
    layout(site, { path, title, description: `${title}.`, main, canonical: null }),
  )
}

function trail(facts: SourceData, file: string | null, to: Linker): Markup {
  const { name, version } = facts
  return html`<nav class="trail" aria-label="Trail"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, version))}">${version}</a>${file === null ? html`<span>Source</span>` : html`<a href="${to(sourcePath(name, version))}">Source</a><span>${file}</span>`}</nav>`
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
