import { counted, formatBytes } from '../../../core/quantity.ts'
import { readFileAddress } from '../../source/address.ts'
import { mainFile } from '../../source/content.ts'
import type { ArchiveTasks, Opened } from './archive.ts'
import { CheckBox, placeOf } from './check.ts'
import { documentOf } from './document.ts'
import { element, part } from './element.ts'
import { CodeView, fileHead } from './file.ts'
import { Finder } from './finder.ts'
import type { Helper } from './helper.ts'
import type { RenderTasks } from './render.ts'
import { FileTree } from './tree.ts'

/** The workers of a page: one reads packages, the other colors and renders what is in them. */
export interface Helpers {
  readonly archive: Helper<ArchiveTasks>
  readonly render: Helper<RenderTasks>
}

/** Loads the package of the page and shows its files. */
export async function startSource(root: HTMLElement, helpers: Helpers): Promise<void> {
  const { version = '' } = root.dataset
  const box = new CheckBox(root)
  box.begin()
  root.ariaBusy = 'true'
  const opened = await box.open(helpers.archive, placeOf(root, version, root.dataset))
  box.conclude([{ ...opened.check, name: `${root.dataset.name} ${version}` }])
  await new SourceView(root, helpers, opened).start()
  root.ariaBusy = 'false'
}

/** The files of a package: their tree, and the one that the fragment of the address names. */
class SourceView {
  readonly #root: HTMLElement
  readonly #helpers: Helpers
  readonly #sizes: ReadonlyMap<string, number>
  readonly #tree: FileTree
  readonly #place = element('div', { className: 'file-text' })
  readonly #problem: string | null
  #shown: { readonly path: string; readonly code: CodeView | null } | null = null

  constructor(root: HTMLElement, helpers: Helpers, { files, problem }: Opened) {
    this.#root = root
    this.#helpers = helpers
    this.#sizes = new Map(files)
    this.#tree = new FileTree(this.#sizes.keys())
    this.#problem = problem
  }

  async start(): Promise<void> {
    const sizes = [...this.#sizes.values()]
    const bytes = formatBytes(sizes.reduce((sum, one) => sum + one, 0))
    const summary = element('summary', {}, `${counted(sizes.length, 'file')}, ${bytes}`)
    const files = element('details', { open: innerWidth > 640 }, summary, this.#tree.element)
    const nav = element('nav', { className: 'siblings' }, files)
    nav.setAttribute('aria-label', 'Files')
    const finder = new Finder([...this.#sizes.keys()], query =>
      this.#helpers.archive.ask('find', { version: this.#version, query }),
    )
    const view = part(this.#root, '[data-view]')
    view.replaceChildren(
      ...(this.#problem === null
        ? []
        : [element('p', { className: 'notice' }, `Not all could be read: ${this.#problem}.`)]),
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

  /** Shows what the fragment names, or else the main file of the package. */
  async #show(): Promise<void> {
    const address = readFileAddress(location.hash)
    const path =
      this.#known(address?.path) ?? (address ? null : mainFile(new Set(this.#sizes.keys())))
    if (path === null) {
      const text = address
        ? `This package has no file ${address.path}.`
        : 'This package has no files.'
      this.#shown = null
      this.#place.replaceChildren(element('p', { className: 'notice' }, text))
      return
    }
    if (this.#shown?.path !== path) await this.#open(path)
    if (this.#shown?.path === path) this.#shown.code?.choose(address?.lines ?? null)
  }

  /** Returns the file that an address names; those of older versions had `.txt` behind some. */
  #known(path: string | undefined): string | null {
    if (path === undefined) return null
    return [path, `${path}.txt`].find(one => this.#sizes.has(one)) ?? null
  }

  async #open(path: string): Promise<void> {
    const { archive, render } = this.#helpers
    const place = { version: this.#version, path }
    this.#shown = { path, code: null }
    const content = await archive.ask('content', place)
    if (this.#shown.path !== path) return
    this.#tree.choose(path)
    document.title = document.title.replace(/^(?:.* · )?(?=Source of)/, `${path} · `)
    const text = content.kind === 'text' ? content.text : null
    const load = () => archive.ask('bytes', place)
    const head = fileHead(path, this.#sizes.get(path) ?? 0, text, load)
    if (content.kind === 'image') {
      const blob = new Blob([content.bytes as BlobPart], { type: content.type })
      const image = element('img', { src: URL.createObjectURL(blob), alt: path })
      this.#place.replaceChildren(head, element('p', { className: 'picture' }, image))
    } else if (content.kind === 'text') {
      const code = new CodeView(path, content.text)
      this.#shown = { path, code }
      this.#place.replaceChildren(head, code.element)
      render.ask('code', { path, text: content.text }).then(
        blocks => code.color(blocks),
        () =>
          head.append(element('p', { className: 'quiet' }, 'Without colors, which take too long.')),
      )
      const views = documentOf(path, content.text, code.element, {
        ...this.#helpers,
        root: this.#root,
        paths: [...this.#sizes.keys()],
      })
      if (views) this.#place.replaceChildren(head, views)
    } else {
      const why = element(
        'p',
        { className: 'notice' },
        'This file is no text, or too large to be shown.',
      )
      this.#place.replaceChildren(head, why)
    }
  }
}
