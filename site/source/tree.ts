import { formatBytes } from '../../core/quantity.ts'
import { icon } from '../elements/elements.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SourceFile } from './files.ts'

/** A folder of a package. */
interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly file: SourceFile }[]
}

/** What a tree shows of the files, and how. */
export interface TreeOptions {
  /** The URLs of files that have a page. */
  readonly links: ReadonlyMap<SourceFile, string>
  /** Whether a folder, with a slash at its end, is open at first. */
  readonly isOpen: (folder: string) => boolean
  /** Whether it has icons and sizes; a tree beside a file does without. */
  readonly isFull: boolean
}

/** Maximum depth of a tree; a deeper file is listed by its whole path. */
const DEPTH_MAX = 40

/** Renders the files of a package as a tree. */
export function fileTree(files: readonly SourceFile[], options: TreeOptions): Markup {
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
  return branch(root, '', options)
}

/** Returns the id of a folder in the tree. */
export function folderId(folder: string): string {
  return `in-${folder.replace(/\s/g, '_')}`
}

function branch(folder: Folder, path: string, options: TreeOptions): Markup {
  const { links, isOpen, isFull } = options
  const folders = [...folder.folders].sort(([a], [b]) => (a < b ? -1 : 1))
  const files = [...folder.files].sort((a, b) => (a.name < b.name ? -1 : 1))
  return html`<ul class="tree">
${folders.map(([name, inner]) => {
  const here = `${path}${name}/`
  const id = isFull ? html` id="${folderId(here)}"` : null
  return html`<li><details${id}${isOpen(here) ? html` open` : null}><summary>${isFull ? icon('folder') : null} ${name}</summary>${branch(inner, here, options)}</details></li>\n`
})}${files.map(({ name, file }) => {
  const link = links.get(file)
  const label = link === undefined ? name : html`<a href="${link}">${name}</a>`
  return isFull
    ? html`<li>${icon('file')} ${label} <span class="quiet small">${formatBytes(file.size)}</span></li>\n`
    : html`<li>${label}</li>\n`
})}</ul>`
}
