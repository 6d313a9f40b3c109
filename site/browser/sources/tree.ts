import { fileFragment } from '../../source/address.ts'
import { visible } from '../../source/lines.ts'
import { appendSome, element, part } from '../element.ts'

interface Folder {
  /** With a slash at its end; empty for the root. */
  readonly path: string
  readonly folders: Map<string, Folder>
  readonly files: string[]
}

/** The files of a package as a tree; folders get their content when they are opened. */
export class FileTree {
  readonly element: HTMLElement
  readonly #root: Folder = { path: '', folders: new Map(), files: [] }
  /** The content of folders that were not opened yet. */
  readonly #closed = new WeakMap<Element, Folder>()
  /** The entries that were made, by path. */
  readonly #items = new Map<string, HTMLElement>()

  constructor(paths: Iterable<string>) {
    for (const path of new Set(paths)) {
      let folder = this.#root
      for (const name of path.split('/').slice(0, -1)) {
        const inner = { path: `${folder.path}${name}/`, folders: new Map(), files: [] }
        const next = folder.folders.get(name) ?? inner
        folder.folders.set(name, next)
        folder = next
      }
      folder.files.push(path)
    }
    this.element = this.#branch(this.#root)
  }

  /** Marks a file, and opens the folders above it. */
  choose(path: string): void {
    for (const link of this.element.querySelectorAll('[aria-current]'))
      link.removeAttribute('aria-current')
    let [list, folder] = [this.element, this.#root]
    for (const name of path.split('/').slice(0, -1)) {
      const inner = folder.folders.get(name)
      if (!inner) return
      const details = part<HTMLDetailsElement>(this.#ahead(list, inner), 'details')
      this.#open(details)
      details.open = true
      list = part(details, 'ul')
      folder = inner
    }
    if (!folder.files.includes(path)) return
    const link = part(this.#ahead(list, path), 'a')
    link.setAttribute('aria-current', 'page')
    // `scrollIntoView` would scroll the window, too.
    const box = this.element.closest('.siblings')
    if (box) box.scrollTop = link.offsetTop - box.clientHeight / 2
  }

  /** Returns an entry; one beyond those that a long list shows is put first until its turn. */
  #ahead(list: HTMLElement, entry: Folder | string): HTMLElement {
    const item = this.#item(entry)
    if (item.parentElement === null) list.prepend(item)
    return item
  }

  #open(details: Element): void {
    const folder = this.#closed.get(details)
    this.#closed.delete(details)
    if (folder) details.append(this.#branch(folder))
  }

  #branch({ folders, files }: Folder): HTMLElement {
    const byName = <T>([a]: readonly [string, T], [b]: readonly [string, T]) => (a < b ? -1 : 1)
    const inner = [...folders].sort(byName).map(([, folder]) => folder)
    const list = element('ul', { className: 'tree' })
    void appendSome(list, [...inner, ...files.sort()], entry => this.#item(entry))
    return list
  }

  /** Makes the entry of a folder or file, once: in its turn, one that came ahead moves there. */
  #item(entry: Folder | string): HTMLElement {
    const path = typeof entry === 'string' ? entry : entry.path
    const made = this.#items.get(path)
    if (made) return made
    const name = visible(path.split('/').at(typeof entry === 'string' ? -1 : -2) ?? '')
    const item = element('li')
    if (typeof entry === 'string')
      item.append(element('a', { href: fileFragment({ path, lines: null }) }, name))
    else {
      const details = element('details', {}, element('summary', {}, name))
      this.#closed.set(details, entry)
      details.addEventListener('toggle', () => this.#open(details))
      item.append(details)
    }
    this.#items.set(path, item)
    return item
  }
}
