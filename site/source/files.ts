import { formatBytes, icon } from '../elements/elements.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'

/** A file of a package. */
export interface SourceFile {
  /** Path inside the package, with `/`. */
  readonly path: string
  readonly size: number
  /** Null for a large file. */
  readonly content: Uint8Array | null
}

/** Largest file that is shown, in bytes. */
export const FILE_MAX = 256 * 1024

/** The text of a file; null for a file that is too large or not UTF-8 text. */
export function fileText(file: SourceFile): string | null {
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

/** A tree deeper than this is shown flat. */
const DEPTH_MAX = 40

/** All files of a package as a tree; `page` gives the page of a file, null when it has none. */
export function fileTree(
  files: readonly SourceFile[],
  page: (file: SourceFile) => string | null,
  to: Linker,
): Markup {
  const root: Folder = { folders: new Map(), files: [] }
  for (const file of files) {
    const segments = file.path.split('/')
    let folder = root
    for (const name of segments.length > DEPTH_MAX ? [] : segments.slice(0, -1)) {
      const next = folder.folders.get(name) ?? { folders: new Map(), files: [] }
      folder.folders.set(name, next)
      folder = next
    }
    folder.files.push({
      name: segments.length > DEPTH_MAX ? file.path : (segments.at(-1) ?? ''),
      file,
    })
  }
  return branch(root, files.length <= 60, page, to)
}

function branch(
  folder: Folder,
  open: boolean,
  page: (file: SourceFile) => string | null,
  to: Linker,
): Markup {
  const folders = [...folder.folders].sort(([a], [b]) => (a < b ? -1 : 1))
  const files = [...folder.files].sort((a, b) => (a.name < b.name ? -1 : 1))
  return html`<ul class="tree">
${folders.map(
  ([name, inner]) =>
    html`<li><details${open ? html` open` : null}><summary>${icon('folder')} ${name}</summary>${branch(inner, open, page, to)}</details></li>\n`,
)}${files.map(({ name, file }) => {
  const path = page(file)
  const label = path === null ? name : html`<a href="${to(path)}">${name}</a>`
  return html`<li>${icon('file')} ${label} <span class="quiet small">${formatBytes(file.size)}</span></li>\n`
})}</ul>`
}
