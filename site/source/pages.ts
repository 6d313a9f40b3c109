import { cratePath, sourceFilePath, sourcePath, versionPath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { formatBytes, icon, plural } from '../elements/elements.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup, raw } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

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

/** A file of a package. */
interface SourceFile {
  /** Path inside the package, separated by `/`. */
  readonly path: string
  readonly size: number
  /** Null for a file larger than `FILE_MAX`. */
  readonly content: Uint8Array | null
}

/** Largest file that is shown, in bytes. */
export const FILE_MAX = 256 * 1024

/** Returns the text of a file; null for a file that is too large or not UTF-8 text. */
function fileText(file: SourceFile): string | null {
  if (file.content === null || file.size > FILE_MAX || file.content.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.content).replace(/\r\n?/g, '\n')
  } catch {
    return null // not UTF-8: listed as binary
  }
}

/** A folder of a package. */
interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly file: SourceFile }[]
}

/** Maximum depth of a tree; a deeper file is listed by its whole path. */
const DEPTH_MAX = 40

/** Renders the files of a package as a tree; `links` has the URLs of files that have a page. */
function fileTree(files: readonly SourceFile[], links: ReadonlyMap<SourceFile, string>): Markup {
  const root: Folder = { folders: new Map(), files: [] }
  for (const file of files) {
    const above = file.path.split('/')
    const name = above.length > DEPTH_MAX ? above.splice(0).join('/') : (above.pop() ?? '')
    let folder = root
    for (const inner of above) {
      const next = folder.folders.get(inner) ?? { folders: new Map(), files: [] }
      folder.folders.set(inner, next)
      folder = next
    }
    folder.files.push({ name, file })
  }
  return branch(root, files.length <= 60, links)
}

function branch(folder: Folder, open: boolean, links: ReadonlyMap<SourceFile, string>): Markup {
  const folders = [...folder.folders].sort(([a], [b]) => (a < b ? -1 : 1))
  const files = [...folder.files].sort((a, b) => (a.name < b.name ? -1 : 1))
  return html`<ul class="tree">
${folders.map(
  ([name, inner]) =>
    html`<li><details${open ? html` open` : null}><summary>${icon('folder')} ${name}</summary>${branch(inner, open, links)}</details></li>\n`,
)}${files.map(({ name, file }) => {
  const link = links.get(file)
  const label = link === undefined ? name : html`<a href="${link}">${name}</a>`
  return html`<li>${icon('file')} ${label} <span class="quiet small">${formatBytes(file.size)}</span></li>\n`
})}</ul>`
}

/** Code with more lines is shown without numbers: each line number costs 50 characters. */
const LINES_MAX = 20_000

/** Renders highlighted code as lines with ids (`#L3`). Splits elements that span several lines. */
export function numberedLines(code: Markup): Markup {
  const shown = visible(code.toString())
  const lines = splitLines(shown)
  if (lines.length > LINES_MAX) return raw(shown)
  return raw(
    lines
      .map(
        (line, at) => `<span><a id="L${at + 1}" href="#L${at + 1}">${at + 1}</a>${line}\n</span>`,
      )
      .join(''),
  )
}

/** Replaces characters that change the text direction, which can disguise code, by their codes. */
function visible(html: string): string {
  return html.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    one => `[U+${one.charCodeAt(0).toString(16).toUpperCase()}]`,
  )
}

/** Splits the highlighter's output, which consists of `<span class="…">` and text, into lines. */
export function splitLines(html: string): string[] {
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  for (const [part] of html.matchAll(/<span[^>]*>|<\/span>|\n|[^<\n]+/g)) {
    if (part === '\n') {
      lines.push(line + '</span>'.repeat(open.length))
      line = open.join('')
      continue
    }
    if (part === '</span>') open.pop()
    else if (part.startsWith('<span')) open.push(part)
    line += part
  }
  if (line !== open.join('') || lines.length === 0) lines.push(line + '</span>'.repeat(open.length))
  return lines
}
