import { counted, formatBytes } from '../../../core/quantity.ts'
import { readFileAddress } from '../../source/address.ts'
import { mainFile } from '../../source/content.ts'
import { element, painted, part } from '../element.ts'
import { CheckBox, packagePlace } from './check.ts'
import { documentOf } from './document.ts'
import { CodeView, fileHead } from './file.ts'
import { Finder } from './finder.ts'
import type { Workers } from './task-worker.ts'
import { FileTree } from './tree.ts'
import type { Content, OpenedPackage } from './workers/archive.ts'

/** Loads the package of the page and shows its files. */
export async function startSource(root: HTMLElement, workers: Workers): Promise<void> {
  const { version = '' } = root.dataset
  const box = new CheckBox(root)
  box.begin()
  root.ariaBusy = 'true'
  const opened = await box.open(workers.archive, packagePlace(root, version, root.dataset))
  box.conclude([{ ...opened.check, name: `${root.dataset.name} ${version}` }])
  await new SourceView(root, workers, opened).start()
  root.ariaBusy = 'false'
}

/** The file tree of a package, and the file that the address's fragment names. */
class SourceView {
  readonly #root: HTMLElement
  readonly #workers: Workers
  readonly #sizes: ReadonlyMap<string, number>
  readonly #tree: FileTree
  readonly #place = element('div', { className: 'file-text' })
  readonly #problem: string | null
  #shown: { readonly path: string; readonly code: CodeView | null } | null = null

  constructor(root: HTMLElement, workers: Workers, { files, problem }: OpenedPackage) {
    this.#root = root
    this.#workers = workers
    this.#sizes = new Map(files)
    this.#tree = new FileTree(this.#sizes.keys())
    this.#problem = problem
  }

  async start(): Promise<void> {
    const sizes = [...this.#sizes.values()]
    const bytes = formatBytes(sizes.reduce((sum, size) => sum + size, 0))
    const summary = element('summary', {}, `${counted(sizes.length, 'file')}, ${bytes}`)
    const files = element('details', { open: innerWidth > 640 }, summary, this.#tree.element)
    const nav = element('nav', { className: 'siblings' }, files)
    nav.setAttribute('aria-label', 'Files')
    const finder = new Finder([...this.#sizes.keys()], query =>
      this.#workers.archive.ask('find', { version: this.#version, query }),
    )
    const view = part(this.#root, '[data-view]')
    view.replaceChildren(
      ...(this.#problem === null ? [] : [notice(`Not all could be read: ${this.#problem}.`)]),
      finder.element,
      element('div', { className: 'file-body' }, nav, this.#place),
    )
    view.hidden = false
    part(this.#root, '[data-list]').remove()
    addEventListener('hashchange', () => void this.#show())
    await this.#show()
  }

  get #version(): string {
    return this.#root.dataset.version ?? ''
  }

  /** Shows the file that the fragment names, or else the package's main file. */
  async #show(): Promise<void> {
    const address = readFileAddress(location.hash)
    const path = address?.path ?? mainFile(this.#sizes)
    if (!this.#sizes.has(path)) {
      this.#shown = null
      this.#tree.choose(path)
      this.#place.replaceChildren(notice(`This package has no file ${path}.`))
      return
    }
    if (this.#shown?.path !== path)
      await this.#open(path).catch((error: Error) =>
        this.#place.replaceChildren(notice(`The file could not be shown: ${error.message}.`)),
      )
    if (this.#shown?.path === path) this.#shown.code?.choose(address?.lines ?? null)
  }

  async #open(path: string): Promise<void> {
    const { archive } = this.#workers
    const place = { version: this.#version, path }
    this.#shown = { path, code: null }
    // Not later: folders that open move what is seen.
    this.#tree.choose(path)
    const content = await archive.ask('content', place)
    if (this.#shown.path !== path) return
    document.title = document.title.replace(/^(?:.* · )?(?=Source of)/, () => `${path} · `)
    const text = content.kind === 'text' ? content.text : null
    const load = () => archive.ask('bytes', place)
    const head = fileHead(path, this.#sizes.get(path) ?? 0, text, load)
    this.#place.replaceChildren(head, this.#body(path, content, head))
    performance.mark('file')
    // What the file moves out of sight, a jump to a line at the same time would move in sight.
    await painted()
  }

  /** Makes the element with the content of a file; its colors follow. */
  #body(path: string, content: Content, head: HTMLElement): HTMLElement {
    if (content.kind === 'other') return notice('This file is not text, or is too large to show.')
    if (content.kind === 'image') {
      const blob = new Blob([content.bytes as BlobPart], { type: content.type })
      const image = element('img', { src: URL.createObjectURL(blob), alt: path })
      return element('p', { className: 'picture' }, image)
    }
    const { text } = content
    const code = new CodeView(path, text)
    this.#shown = { path, code }
    this.#workers.render.ask('code', { path, text }).then(
      blocks => void code.color(blocks),
      () => head.append(notice('Shown without colors, which take too long.')),
    )
    const place = { ...this.#workers, root: this.#root, paths: [...this.#sizes.keys()] }
    return documentOf(path, text, code.element, place) ?? code.element
  }
}

function notice(text: string): HTMLElement {
  return element('p', { className: 'notice' }, text)
}
