import { formatBytes, icon } from '../elements/elements.ts'
import { html, type Markup } from '../elements/markup.ts'

/** A file of a package. */
export interface SourceFile {
  /** Path inside the package, separated by `/`. */
  readonly path: string
  readonly size: number
  /** Null for a file larger than `FILE_MAX`. */
  readonly content: Uint8Array | null
}

/** Largest file that is shown, in bytes. */
export const FILE_MAX = 256 * 1024

/** Returns the text of a file; null for a file that is too large or not UTF-8 text. */
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

/** Maximum depth of a tree; a deeper file is listed by its whole path. */
const DEPTH_MAX = 40

/** Renders the files of a package as a tree; `links` has the URLs of files that have a page. */
export function fileTree(
  files: readonly SourceFile[],
  links: ReadonlyMap<SourceFile, string>,
): Markup {
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
