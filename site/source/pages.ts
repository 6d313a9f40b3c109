import { cratePath, rawFilePath, sourcePath, versionPath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Linker, linker } from '../elements/links.ts'
import { type Child, html, join, type Markup, raw } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { ReadmePlace } from '../readme/links.ts'
import type { SiteConfig } from '../site-config.ts'
import { type Part, type ShownFile, type SourceFile, shownFiles } from './files.ts'
import { numberedLines } from './lines.ts'
import { renderedMarkdown } from './markdown-file.ts'
import { fileTree, folderId } from './tree.ts'

/** What the source browser shows of one version. */
export interface SourceData {
  readonly name: string
  readonly version: string
  readonly files: readonly SourceFile[]
  /** Where the package is in its repository: relative links of Markdown files may lead there. */
  readonly place: ReadmePlace
}

type SourceVersion = Pick<SourceData, 'name' | 'version'>

/** Up to this number of files, the whole tree is beside each file, otherwise only its folder. */
const TREE_MAX = 200

/** Maximum number of files of the same folder that are listed beside a file. */
const SIBLINGS_MAX = 100

/** Up to this number of files, all folders of a tree are open at first. */
const OPEN_MAX = 60

/** Everything that the pages of a version's files have in common. */
interface Book {
  readonly site: SiteConfig
  readonly data: SourceData
  readonly shown: readonly ShownFile[]
  /** Why code has no colors, as a clause; null if it has colors. */
  readonly plainBecause: string | null
  /** The first page of each file, by its path in the package. */
  readonly pages: ReadonlyMap<string, string>
  /** The trees beside files by folder: pages in the same folder share one. */
  readonly trees: Map<string, string>
}

/**
 * Renders the source browser of a version: the tree, a page for each text file and image, and the
 * bytes of the images; those of all other files only if the site asks for it.
 * `plainBecause` is a clause that says why code has no colors; null if it has colors.
 */
export function* sourcePages(
  site: SiteConfig,
  data: SourceData,
  plainBecause: string | null = null,
): Generator<Output> {
  const { name, version, files } = data
  const shown = shownFiles(name, version, files)
  const pages = new Map(shown.map(one => [one.file.path, one.pages[0]]))
  const book: Book = { site, data, shown, pages, plainBecause, trees: new Map() }
  yield treePage(book)
  for (const one of book.shown) {
    const { file, parts } = one
    const path = rawFilePath(name, version, file.path, parts === null)
    if (path !== null && file.content !== null && (parts === null || site.raw_files))
      yield output(path, Buffer.from(file.content))
    for (const at of one.pages.keys()) yield filePage(book, one, at)
  }
}

/** Renders the only page of a version whose files cannot be shown; `because` is a clause. */
export function sourceNotice(site: SiteConfig, version: SourceVersion, because: string): Output {
  const text = html`<p class="notice">The files are not shown here because ${because}; the package has them.</p>`
  const heading = html`<h1>Source of ${version.name} ${version.version}</h1>`
  return page(
    site,
    version,
    { path: sourcePath(version.name, version.version), file: null },
    () => [heading, text],
  )
}

function treePage({ site, data, shown }: Book): Output {
  const { name, version, files } = data
  const size = formatBytes(files.reduce((sum, file) => sum + file.size, 0))
  const lead = html`<p class="lead">${counted(files.length, 'file')}, ${size}. Files without a link are binary, too large, or have a name that some hosts do not allow.</p>`
  return page(site, data, { path: sourcePath(name, version), file: null }, to => {
    const links = new Map(shown.map(({ file, pages }) => [file, to(pages[0])]))
    const isOpen = () => files.length <= OPEN_MAX
    return [
      html`<h1>Source of ${name} ${version}</h1>\n`,
      lead,
      fileTree(files, { links, isOpen, isFull: true }),
    ]
  })
}

/** Renders the page of a file, or one page of a long file. */
function filePage(book: Book, shown: ShownFile, at: number): Output {
  const { site, data, plainBecause } = book
  const { file, parts } = shown
  const path = shown.pages[at] ?? shown.pages[0]
  const part = parts?.[at] ?? null
  const plain =
    plainBecause === null || part === null
      ? null
      : html`<p class="notice">This file is shown without colors because ${plainBecause}.</p>`
  return page(site, data, { path, file: file.path }, to => [
    html`<h1 class="file-name">${file.path}</h1>
<div class="file-facts quiet">${fileFacts(shown)}${fileTools(book, shown, to)}</div>
${plain}<div class="file-body">
<nav class="siblings" aria-label="Files">${raw(treeBeside(book, shown, path, to))}</nav>
<div class="file-text">
`,
    part === null ? image(data, file, to) : textBody(book, shown, part, to),
    html`
</div>
</div>`,
  ])
}

function fileFacts({ file, parts }: ShownFile): string {
  const last = parts?.at(-1)
  const lines = last ? `${counted(last.first + last.lines - 1, 'line')}, ` : ''
  return `${lines}${formatBytes(file.size)}`
}

/** Renders links and buttons that do something with a file. */
function fileTools({ site, data }: Book, { file, parts }: ShownFile, to: Linker): Markup {
  const path = rawFilePath(data.name, data.version, file.path, parts === null)
  const hasRaw = path !== null && (parts === null || site.raw_files || site.api)
  const button = (what: string, text: string) =>
    html`<button type="button" class="tool" data-tool="${what}" hidden>${text}</button>`
  return html`${hasRaw ? html`<a class="tool" href="${to(path)}">Raw</a>` : null}${parts === null ? null : button('copy', parts.length > 1 ? 'Copy this part' : 'Copy')}${button('link', 'Copy link')}`
}

function image({ name, version }: SourceVersion, file: SourceFile, to: Linker): Markup {
  const path = rawFilePath(name, version, file.path, true) ?? ''
  return html`<p class="picture"><img src="${to(path)}" alt="${file.path}"></p>`
}

/** Renders a text: its lines, and the document that it is if it is Markdown. */
function textBody(book: Book, shown: ShownFile, part: Part, to: Linker): Markup {
  const { file, parts } = shown
  const isPlain = book.plainBecause !== null
  const language = isPlain || parts?.length !== 1 ? null : fileLanguage(file.path)
  const code = highlight(part.text, language)
  const lines = html`${partLinks(shown, part, to)}<pre class="source" tabindex="0" aria-label="${file.path}"><code>${numberedLines(code, part.first)}</code></pre>${partLinks(shown, part, to)}`
  const document =
    isPlain || parts?.length !== 1
      ? null
      : renderedMarkdown(file.path, part.text, {
          ...book.data,
          images: book.site.images,
          pages: book.pages,
          to,
        })
  if (document === null) return lines
  return html`<nav class="views" aria-label="Views of this file"><a href="#rendered">Rendered</a> <a href="#source">Source</a></nav>
<section id="rendered" aria-label="Rendered">${raw(document)}</section>
<section id="source" aria-label="Source">${lines}</section>`
}

/** Renders links to the parts of a long file. */
function partLinks({ pages, parts }: ShownFile, shown: Part, to: Linker): Markup | null {
  if (parts === null || parts.length < 2) return null
  const links = parts.map((one, at) => {
    const lines = `${one.first}–${one.first + one.lines - 1}`
    const current = one === shown ? html` aria-current="page"` : null
    return html`<a href="${to(pages[at] ?? pages[0])}" data-first="${one.first}"${current}>${lines}</a>`
  })
  return html`<nav class="parts" aria-label="Parts of this file"><span>Lines</span> ${join(links, ' ')}</nav>`
}

/** Renders the tree beside a file: all files, or those of its folder if there are too many. */
function treeBeside(book: Book, shown: ShownFile, path: string, to: Linker): string {
  const { name, version, files } = book.data
  const key = path.slice(0, path.lastIndexOf('/'))
  let tree = book.trees.get(key)
  if (tree === undefined) {
    const isWhole = files.length <= TREE_MAX
    const beside = book.shown.filter(one => one.folder === shown.folder).slice(0, SIBLINGS_MAX)
    const all = html`<p><a href="${to(sourcePath(name, version))}">All ${counted(files.length, 'file')}</a></p>\n`
    const links = new Map((isWhole ? book.shown : beside).map(one => [one.file, to(one.pages[0])]))
    const isOpen = (folder: string) =>
      files.length <= OPEN_MAX / 2 || shown.folder.startsWith(folder)
    const list = isWhole ? files : beside.map(one => one.file)
    tree =
      html`${isWhole ? null : all}${fileTree(list, { links, isOpen, isFull: false })}`.toString()
    book.trees.set(key, tree)
  }
  const link = html`<a href="${to(shown.pages[0])}">`.toString()
  return tree.replace(link, () => link.replace('>', ' aria-current="page">'))
}

/** Renders a page of the source browser: of a file, or the tree of all files. */
function page(
  site: SiteConfig,
  { name, version }: SourceVersion,
  { path, file }: { readonly path: string; readonly file: string | null },
  content: (to: Linker) => readonly Child[],
): Output {
  const to = linker(site, path)
  const tree = to(sourcePath(name, version))
  const above = (file ?? '').split('/').slice(0, -1)
  const folders = above.map((folder, at) => {
    const id = folderId(`${above.slice(0, at + 1).join('/')}/`)
    return html`<a href="${tree}#${encodeURIComponent(id)}">${folder}</a>`
  })
  const source = file
    ? html`<a href="${tree}">Source</a>${folders}<span>${file.slice(file.lastIndexOf('/') + 1)}</span>`
    : html`<span>Source</span>`
  const main = html`<div class="wide page">
<nav class="trail" aria-label="Breadcrumb"><a href="${to(cratePath(name))}">${name}</a><a href="${to(versionPath(name, version))}">${version}</a>${source}</nav>
${content(to)}
</div>`
  const title = `${file ? `${file} ·` : 'Source of'} ${name} ${version}`
  return output(path, layout(site, { path, title, main, canonical: null }))
}
