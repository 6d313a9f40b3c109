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

/** What the source browser shows of one version. */
export interface SourceData {
  readonly name: string
  readonly version: string
  readonly files: readonly SourceFile[]
}

type SourceVersion = Omit<SourceData, 'files'>

/** Maximum number of files of a version that get a page. */
const PAGES_MAX = 1000

/** Maximum number of files of the same folder that are listed beside a file. */
const SIBLINGS_MAX = 100

/** A file that has a page. */
interface Shown {
  readonly file: SourceFile
  /** The folder of the file, ending with a slash. */
  readonly folder: string
  /** The path of its page. */
  readonly path: string
  readonly text: string
}

/**
 * Renders the source browser of a version: the tree, and a page for each text file.
 * `plainBecause` is a clause that says why code has no colors; null if it has colors.
 */
export function* sourcePages(
  site: SiteConfig,
  data: SourceData,
  plainBecause: string | null = null,
): Generator<Output> {
  const shown = shownFiles(data)
  yield treePage(site, data, shown)
  for (const one of shown) {
    const beside = shown.filter(other => other.folder === one.folder)
    yield filePage(site, data, one, beside.slice(0, SIBLINGS_MAX), plainBecause)
  }
}

/** Renders the only page of a version whose files cannot be shown; `because` is a clause. */
export function sourceNotice(site: SiteConfig, version: SourceVersion, because: string): Output {
  const text = html`<p class="notice">The files are not shown here because ${because}; the package has them.</p>`
  return page(site, version, null, () => text)
}

function shownFiles({ name, version, files }: SourceData): Shown[] {
  const shown: Shown[] = []
  const taken = new Set<string>()
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = sourceFilePath(name, version, file.path)
    // On a case-insensitive file system, two such pages would be the same file.
    const folded = path?.normalize('NFC').toLowerCase() ?? ''
    if (path === null || taken.has(folded) || shown.length >= PAGES_MAX) continue
    const text = fileText(file)
    if (text === null) continue
    shown.push({ file, folder: file.path.replace(/[^/]*$/, ''), path, text })
    taken.add(folded)
  }
  return shown
}

function treePage(site: SiteConfig, data: SourceData, shown: readonly Shown[]): Output {
  const { files } = data
  const size = formatBytes(files.reduce((sum, file) => sum + file.size, 0))
  const lead = html`<p class="lead">${plural(files.length, 'file')}, ${size}. Files without a link are binary, too large, or have a name that some hosts do not allow.</p>`
  return page(site, data, null, to => {
    const links = new Map(shown.map(({ file, path }) => [file, to(path)]))
    return html`${lead}\n${fileTree(files, links)}`
  })
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
  const sibling = (one: Shown, to: Linker) =>
    html`<li><a href="${to(one.path)}"${one === shown ? html` aria-current="page"` : null}>${one.file.path.slice(one.folder.length)}</a></li>`
  return page(
    site,
    data,
    shown,
    to => html`<p class="quiet">${plural(lines, 'line')}, ${formatBytes(file.size)}</p>
${plain}<div class="file-body">
<nav class="siblings" aria-label="Files in this folder"><ul class="plain">${beside.map(one => sibling(one, to))}</ul></nav>
<pre class="source" tabindex="0" aria-label="${file.path}"><code>${numberedLines(code)}</code></pre>
</div>`,
  )
}

/** Renders a page of the source browser: a file, or the list of all files. */
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
