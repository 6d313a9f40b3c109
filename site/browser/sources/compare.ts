import { counted, formatBytes, formatNumber } from '../../../core/quantity.ts'
import { MADE_BY_CARGO } from '../../compare/file-pairs.ts'
import type { ChangedFile } from '../../compare/package-diff.ts'
import { type CompareAddress, compareFragment, readCompareAddress } from '../../source/address.ts'
import { visible } from '../../source/lines.ts'
import { appendSome, button, element, painted, part } from '../element.ts'
import { CheckBox, packagePlace } from './check.ts'
import { hunkView } from './hunks.ts'
import type { Workers } from './task-worker.ts'
import type { Check } from './workers/load.ts'

/** Maximum numbers of changed lines that are shown at once, of a file and of all files. */
const OPEN_MAX = { file: 400, page: 1500 }

/** How many files are drawn at a time. */
const BATCH = 50

/** Compares the versions that the fragment of the address names, or the newest two. */
export function startCompare(root: HTMLElement, workers: Workers): void {
  const view = new CompareView(root, workers)
  const asked = new URLSearchParams(location.search)
  const [from, to] = [asked.get('from')?.trim(), asked.get('to')?.trim()]
  // From the form without a script.
  if (from && to) history.replaceState(null, '', `./${compareFragment({ from, to, path: null })}`)
  addEventListener('hashchange', () => void view.show())
  void view.show()
}

class CompareView {
  readonly #root: HTMLElement
  readonly #workers: Workers
  readonly #box: CheckBox
  readonly #from: HTMLSelectElement
  readonly #to: HTMLSelectElement
  /** What an address without versions means. */
  readonly #first: CompareAddress
  readonly #opened = new Map<string, Check>()
  /** The lines that are loaded for files that have come into view. */
  #filling: (Promise<void> | undefined)[] = []
  /** Loads the lines of a file when its element comes into view. */
  readonly #fills = new WeakMap<Element, () => Promise<void>>()
  readonly #inView = new IntersectionObserver(
    seen => {
      for (const { target, isIntersecting } of seen)
        if (isIntersecting) this.#filling.push(this.#fills.get(target)?.())
    },
    { rootMargin: '50%' },
  )
  #drawn: Promise<void> = Promise.resolve()
  /** Shows a file that is not among the first ones. */
  #add: (path: string) => void = () => undefined
  /** The versions that are shown, as in an address. */
  #shown = ''

  constructor(root: HTMLElement, workers: Workers) {
    this.#root = root
    this.#workers = workers
    this.#box = new CheckBox(root)
    this.#from = part(root, 'select[name=from]')
    this.#to = part(root, 'select[name=to]')
    this.#first = { from: this.#from.value, to: this.#to.value, path: null }
    const swap = part<HTMLButtonElement>(root, '[data-swap]')
    swap.hidden = false
    swap.addEventListener('click', () => this.#go(this.#to.value, this.#from.value))
    part(root, 'form').addEventListener('submit', event => {
      event.preventDefault()
      this.#go(this.#from.value, this.#to.value)
    })
  }

  #go(from: string, to: string): void {
    location.hash = compareFragment({ from, to, path: null })
    void this.show()
  }

  async show(): Promise<void> {
    const { from, to, path } = readCompareAddress(location.hash) ?? this.#first
    const pair = compareFragment({ from, to, path: null })
    if (pair !== this.#shown) {
      this.#shown = pair
      this.#from.value = from
      this.#to.value = to
      const compared = await this.#compare(from, to).catch((error: Error) => error)
      if (pair !== this.#shown || compared === null) return
      if (compared instanceof Error) {
        this.#shown = ''
        this.#opened.clear()
        this.#box.say(`The versions could not be compared: ${compared.message}.`)
        return
      }
      this.#box.conclude(compared.checks)
      this.#fill(from, to, compared.files)
    }
    if (path !== null) await this.#goTo(path)
  }

  /** Returns null if the reader has chosen other versions meanwhile. */
  async #compare(from: string, to: string) {
    const { archive } = this.#workers
    const pair = this.#shown
    this.#box.begin()
    part(this.#root, '[data-view]').hidden = true
    const checks = []
    for (const version of new Set([from, to])) {
      const option = this.#to.querySelector<HTMLOptionElement>(`[value="${CSS.escape(version)}"]`)
      if (option === null) throw new Error(`this page lists no version ${version}`)
      const place = packagePlace(this.#root, version, option.dataset)
      const check = this.#opened.get(version) ?? (await this.#box.open(archive, place)).check
      this.#opened.set(version, check)
      if (pair !== this.#shown) return null
      checks.push({ ...check, name: `${place.name} ${version}` })
    }
    return { checks, files: await archive.ask('compare', { from, to }) }
  }

  #fill(from: string, to: string, files: readonly ChangedFile[]): void {
    const title = element('h2', {}, `Changes from ${from} to ${to}`)
    const list = element('ul', { className: 'plain changed-files' })
    const link = ({ kind, path, before, lines }: ChangedFile) => {
      const href = compareFragment({ from, to, path })
      const renamed = kind === 'renamed' ? ` renamed from ${visible(before ?? '')} ` : ' '
      return element('li', {}, element('a', { href }, visible(path)), renamed, countsOf(lines))
    }
    void appendSome(list, files, link, BATCH)
    let left = OPEN_MAX.page
    this.#filling = []
    this.#inView.disconnect()
    const details = element('div')
    // A file that was shown ahead moves to its place.
    const made = new Map<string, HTMLElement>()
    const make = (file: ChangedFile, at: number) => {
      const ahead = made.get(file.path)
      if (ahead) return ahead
      const n = (file.lines?.added ?? 0) + (file.lines?.removed ?? 0)
      const isShort = n <= Math.min(left, OPEN_MAX.file) && !MADE_BY_CARGO.has(file.path)
      if (isShort) left -= n
      const item = this.#file(file, at, isShort, `../${file.after === null ? from : to}/src/`)
      made.set(file.path, item)
      return item
    }
    this.#drawn = appendSome(details, files, make, BATCH)
    this.#add = path => {
      const at = files.findIndex(file => file.path === path)
      const file = files[at]
      if (file) details.prepend(make(file, at))
    }
    const view = part(this.#root, '[data-view]')
    view.replaceChildren(
      title,
      element('p', { className: 'file-sum' }, sumOf(files)),
      ...(files.length > 1 ? [tools(list, details), list] : []),
      details,
    )
    view.hidden = false
    // The lines of the files in view come one after the other, and would move each other.
    view.style.visibility = 'hidden'
    void this.#settled().finally(() => view.style.removeProperty('visibility'))
  }

  /** Waits for the lines of the files that are in view now. */
  async #settled(): Promise<void> {
    await painted()
    await Promise.all(this.#filling)
  }

  /** Makes the element of a file, whose lines are loaded when it is open and comes into view. */
  #file(file: ChangedFile, at: number, isOpen: boolean, source: string): HTMLElement {
    const { kind, path, lines } = file
    const badge = element('span', { className: `badge ${kind}` }, kind)
    const summary = element(
      'summary',
      {},
      badge,
      ' ',
      element('code', {}, visible(path)),
      ' ',
      countsOf(lines),
    )
    const details = element('details', { className: 'file-diff' }, summary)
    details.dataset.path = path
    const words = explanation(file)
    if (words !== null) details.append(element('p', { className: 'quiet small' }, words))
    let isFilled = lines === null
    const fill = async () => {
      if (isFilled || !details.open) return
      isFilled = true
      const lines = hunkView(this.#workers, file, at, source)
      details.append(await lines.catch(error => `Not shown: ${error.message}.`))
    }
    this.#fills.set(details, fill)
    details.addEventListener('toggle', () => {
      // A new observation tells whether it is in view.
      this.#inView.unobserve(details)
      if (details.open) this.#inView.observe(details)
    })
    details.open = isOpen
    return details
  }

  async #goTo(path: string): Promise<void> {
    const find = () => {
      const all = this.#root.querySelectorAll<HTMLDetailsElement>('.file-diff')
      return [...all].find(details => details.dataset.path === path)
    }
    await this.#drawn
    // If there are very many files, this one may not be shown at first.
    if (!find()) this.#add(path)
    const details = find()
    if (details) details.open = true
    // The lines of files above it may only come now, when these are in view.
    for (let round = 0; round < 3; round++) {
      details?.scrollIntoView()
      await this.#settled()
    }
    details?.scrollIntoView()
  }
}

/** Makes a filter of the files by their paths, and buttons that fold and unfold all of them. */
function tools(list: HTMLElement, details: HTMLElement): HTMLElement {
  const input = element('input', { type: 'search', placeholder: 'src/, .toml' })
  const all = () => [...details.querySelectorAll<HTMLDetailsElement>('.file-diff')]
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/)
    const fits = (text: string | null = '') =>
      words.every(word => text?.toLowerCase().includes(word))
    for (const file of all()) file.hidden = !fits(file.dataset.path)
    for (const row of list.children as HTMLCollectionOf<HTMLElement>)
      row.hidden = !fits(row.textContent)
  })
  const fold = (text: string, isOpen: boolean) =>
    button(text, () => {
      for (const file of all()) file.open = isOpen
    })
  const label = element('label', {}, 'Filter ', input)
  const folds = [fold('Fold all', false), ' ', fold('Unfold all', true)]
  return element('div', { className: 'filter' }, label, ...folds)
}

/** Shows how many lines changed; numbers that are only bounds are not shown. */
function countsOf(lines: ChangedFile['lines']): Node {
  const counts = element('span', { className: 'counts' })
  if (lines?.isMatched)
    counts.append(
      element('span', { className: 'plus' }, `+${formatNumber(lines.added)}`),
      ' ',
      element('span', { className: 'minus' }, `−${formatNumber(lines.removed)}`),
    )
  return counts
}

const KINDS = ['changed', 'added', 'removed', 'renamed'] as const

/** Returns for example `3 files differ: 2 changed, 1 added; 20 lines added, 3 removed.` */
function sumOf(files: readonly ChangedFile[]): string {
  if (files.length === 0) return 'No file differs.'
  const kinds = KINDS.flatMap(kind => {
    const n = files.filter(file => file.kind === kind).length
    return n === 0 ? [] : [`${formatNumber(n)} ${kind}`]
  })
  const matched = files.flatMap(({ lines }) => (lines?.isMatched ? [lines] : []))
  const sum = (count: 'added' | 'removed') => matched.reduce((all, lines) => all + lines[count], 0)
  const uncounted = files.filter(file => file.lines && !file.lines.isMatched).length
  const without = uncounted === 0 ? '' : `, ${counted(uncounted, 'file')} too different to count`
  const head = `${counted(files.length, 'file differs', 'files differ')}: ${kinds.join(', ')}`
  return `${head}; ${counted(sum('added'), 'line')} added, ${formatNumber(sum('removed'))} removed${without}.`
}

/** Explains differences that the lines do not show; null if there are none. */
function explanation({ kind, before, lines, sizes }: ChangedFile): string | null {
  const was = kind === 'renamed' ? `was ${before}` : null
  const size = sizes.map(size => (size === null ? 'none' : formatBytes(size))).join(' → ')
  if (lines === null)
    return [was, `not text, or too large to compare: ${size}`].filter(Boolean).join('; ')
  return lines.isMatched ? was : 'too many changes to match the lines: all old lines come first'
}
