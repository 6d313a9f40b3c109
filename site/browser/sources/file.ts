import { counted, formatBytes } from '../../../core/quantity.ts'
import { fileFragment } from '../../source/address.ts'
import { type Block, blocksOf, visible } from '../../source/lines.ts'
import { copyText } from '../copy.ts'
import { button, element } from '../element.ts'

/** Lines of a file, from 1. */
export type Lines = readonly [from: number, to: number]

/** The longest HTML of a block that is shown in color. */
const COLORED_MAX = 1024 * 1024

/** The code of a file with line numbers; some lines are marked. */
export class CodeView {
  readonly element: HTMLElement
  readonly #path: string
  readonly #last: number
  readonly #marked = element('div', { className: 'marked', hidden: true })
  #chosen: Lines | null = null

  constructor(path: string, text: string) {
    this.#path = path
    const names = { role: 'region', ariaLabel: path }
    this.element = element('div', { className: 'code', tabIndex: 0, ...names })
    const lines = visible(text).split('\n')
    if (lines.length > 1 && lines.at(-1) === '') lines.pop()
    this.#last = lines.length
    this.#fill(blocksOf(lines))
    this.element.addEventListener('click', event => this.#click(event))
  }

  /**
   * Replaces the code by itself in color: HTML of the highlighter. A block with very many colors
   * stays without, and between blocks the page has time for its reader.
   */
  async color(blocks: readonly Block[]): Promise<void> {
    for (const [at, code] of [...this.element.querySelectorAll('code')].entries()) {
      const html = blocks[at]?.html ?? ''
      if (html.length <= COLORED_MAX) code.innerHTML = html
      await new Promise(resolve => setTimeout(resolve))
    }
  }

  #fill(blocks: readonly Block[]): void {
    let first = 1
    const made = blocks.map(({ html, lines }) => {
      const numbers = Array.from({ length: lines }, (_, at) => first + at).join('\n')
      const code = element('code', {}, html)
      const gutter = element('span', { className: 'numbers' }, numbers)
      gutter.setAttribute('aria-hidden', 'true')
      gutter.dataset.first = String(first)
      const block = element('div', { className: 'block' }, gutter, code)
      block.style.setProperty('--lines', String(lines))
      first += lines
      return block
    })
    this.element.replaceChildren(this.#marked, ...made)
  }

  /** Marks lines and goes there; null marks none. */
  choose(lines: Lines | null): void {
    this.#mark(lines)
    if (lines !== null) this.#marked.scrollIntoView({ block: 'center' })
  }

  #mark(lines: Lines | null): void {
    this.#chosen = lines
    this.#marked.hidden = lines === null
    const [from = 1, to = 0] = lines?.map(line => Math.min(line, this.#last)) ?? []
    this.#marked.style.setProperty('--from', String(from))
    this.#marked.style.setProperty('--lines', String(to - from + 1))
  }

  /** A click on a number chooses its line; with Shift, all lines from the one chosen before. */
  #click({ target, offsetY, shiftKey }: MouseEvent): void {
    if (!(target instanceof HTMLElement) || target.dataset.first === undefined) return
    const height = Number.parseFloat(getComputedStyle(target).lineHeight)
    const line = Number(target.dataset.first) + Math.floor(offsetY / height)
    const [from, to] = (shiftKey && this.#chosen) || [line, line]
    const lines = [Math.min(from, line), Math.max(to, line)] as const
    // No jump: the clicked line is in view.
    history.pushState(null, '', fileFragment({ path: this.#path, lines }))
    this.#mark(lines)
  }
}

/** Makes the head of a file: its path, its size, and its actions. */
export function fileHead(
  path: string,
  size: number,
  text: string | null,
  load: () => Promise<Uint8Array>,
): HTMLElement {
  const lines = text === null ? '' : `${counted(lineCount(text), 'line')}, `
  const copied = (label: string, what: () => string) => {
    const made = button(label, async () => {
      if (!(await copyText(what()))) return
      made.textContent = 'Copied'
      setTimeout(() => {
        made.textContent = label
      }, 1500)
    })
    return made
  }
  const save = button('Download', async () => {
    const bytes = (await load()) as BlobPart
    // Never by its own type: a stranger's page would have the rights of this site.
    const blob = new Blob([bytes], { type: 'application/octet-stream' })
    const link = element('a', { href: URL.createObjectURL(blob) })
    link.download = path.slice(path.lastIndexOf('/') + 1)
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  })
  const summary = element(
    'div',
    { className: 'file-facts quiet' },
    `${lines}${formatBytes(size)}`,
    text === null ? null : copied('Copy', () => text),
    copied('Copy link', () => location.href),
    save,
  )
  return element('header', {}, element('h2', { className: 'file-name' }, visible(path)), summary)
}

function lineCount(text: string): number {
  const lines = text.split('\n').length
  return text.endsWith('\n') || text === '' ? lines - 1 : lines
}
