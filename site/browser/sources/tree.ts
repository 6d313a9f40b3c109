import { fileFragment } from '../../source/address.ts'
import { visible } from '../../source/lines.ts'
import { appendSome, element, part } from '../element.ts'

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: string[]
}

/** The files of a package as a tree; folders get their content when they are opened. */
export class FileTree {
  readonly element: HTMLElement
  readonly #paths: ReadonlySet<string>
  readonly #root: Folder = { folders: new Map(), files: [] }

  constructor(paths: Iterable<string>) {
    this.#paths = new Set(paths)
    for (const path of this.#paths) {
      let folder = this.#root
      for (const name of path.split('/').slice(0, -1)) {
        const next = folder.folders.get(name) ?? { folders: new Map(), files: [] }
        folder.folders.set(name, next)
        folder = next
      }
      folder.files.push(path)
    }
    this.element = branch(this.#root)
  }

  /** Marks a file, and opens the folders above it. */
  choose(path: string): void {
    for (const link of this.element.querySelectorAll('[aria-current]'))
      link.removeAttribute('aria-current')
    let list: Element | null = this.element
    for (const name of path.split('/').slice(0, -1)) {
      const folder: HTMLDetailsElement | undefined = [
        ...(list?.querySelectorAll<HTMLDetailsElement>(':scope > li > details') ?? []),
      ].find(details => details.dataset.name === name)
      if (folder) fill(folder)
      if (folder) folder.open = true
      list = folder?.querySelector(':scope > ul') ?? null
    }
    if (!(list instanceof HTMLElement)) return
    const links = list.querySelectorAll<HTMLAnchorElement>(':scope > li > a')
    let link = [...links].find(link => link.hash === fileFragment({ path, lines: null }))
    if (!link && this.#paths.has(path)) {
      // A long folder does not show it at first.
      const item = fileItem(path)
      list.prepend(item)
      link = part(item, 'a')
    }
    link?.setAttribute('aria-current', 'page')
    link?.scrollIntoView({ block: 'nearest' })
  }
}

/** The content of folders that were not opened yet. */
const closed = new WeakMap<HTMLDetailsElement, Folder>()

function fill(details: HTMLDetailsElement): void {
  const folder = closed.get(details)
  closed.delete(details)
  if (folder) details.append(branch(folder))
}

function branch({ folders, files }: Folder): HTMLElement {
  const byName = (a: string, b: string) => (a < b ? -1 : 1)
  const inner = [...folders].sort(([a], [b]) => byName(a, b))
  const list = element('ul', { className: 'tree' })
  const entries = [...inner, ...files.sort(byName)]
  void appendSome(list, entries, entry =>
    typeof entry === 'string' ? fileItem(entry) : folderItem(entry),
  )
  return list
}

function folderItem([name, folder]: readonly [string, Folder]): HTMLElement {
  const details = element('details', {}, element('summary', {}, visible(name)))
  details.dataset.name = name
  closed.set(details, folder)
  details.addEventListener('toggle', () => fill(details))
  return element('li', {}, details)
}

function fileItem(path: string): HTMLElement {
  const href = fileFragment({ path, lines: null })
  const name = visible(path.slice(path.lastIndexOf('/') + 1))
  return element('li', {}, element('a', { href }, name))
}
