import { counted } from '../../../core/quantity.ts'
import { fileFragment } from '../../source/address.ts'
import type { Matches } from '../../source/find.ts'
import { visible } from '../../source/lines.ts'
import { element } from '../element.ts'

const OFFERED = 20

/** Milliseconds that the search waits for more letters. */
const PAUSE_MS = 150

/** Two fields: one goes to a file by parts of its path, the other searches in all files. */
export class Finder {
  readonly element: HTMLElement
  readonly #paths: readonly string[]
  readonly #find: (query: string) => Promise<Matches>
  readonly #results = element('div', { className: 'found', hidden: true })
  #asked = 0

  constructor(paths: readonly string[], find: (query: string) => Promise<Matches>) {
    this.#paths = paths
    this.#find = find
    const goTo = field('Go to file', () => this.#offer(goTo.value))
    const search = field('Search in all files', () => this.#search(search.value))
    for (const input of [goTo, search])
      input.addEventListener('keydown', event => this.#press(event, input))
    addEventListener('keydown', event => {
      const isTyping = (event.target as Element).closest('input, textarea, select')
      if (event.key !== 't' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
      event.preventDefault()
      goTo.focus()
    })
    const fields = element('div', { className: 'finder' }, labeled(goTo), labeled(search))
    this.element = element('div', { className: 'finders' }, fields, this.#results)
  }

  #press(event: KeyboardEvent, input: HTMLInputElement): void {
    if (event.key === 'Escape') input.value = ''
    if (event.key === 'Escape') this.#results.hidden = true
    if (event.key === 'Enter') this.#results.querySelector('a')?.click()
    if (event.key !== 'ArrowDown') return
    event.preventDefault()
    this.#results.querySelector('a')?.focus()
  }

  #offer(query: string): void {
    this.#asked++
    const [, name = '', line] = /^(.*?)(?::([1-9]\d*))?$/.exec(query.trim()) ?? []
    const words = name.toLowerCase().split(/\s+/)
    const matches = this.#paths
      .map(path => ({ path, rank: rankOf(path, words) }))
      .filter(match => match.rank !== null)
      .sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0) || a.path.length - b.path.length)
    const lines = line === undefined ? null : ([Number(line), Number(line)] as const)
    const links = matches.slice(0, OFFERED).map(({ path }) => {
      const href = fileFragment({ path, lines })
      return element('li', {}, element('a', { href }, visible(path)))
    })
    this.#show(query, links, links.length === 0 ? 'No path contains this.' : null)
  }

  async #search(query: string): Promise<void> {
    const asked = ++this.#asked
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    if (asked !== this.#asked) return
    const result = await this.#find(query).catch((error: Error) => error)
    if (asked !== this.#asked) return
    if (result instanceof Error) return this.#show(query, [], `No search: ${result.message}.`)
    const { hits, isMore } = result
    const links = hits.map(({ path, line, parts }) => {
      const href = fileFragment({ path, lines: [line, line] })
      const link = element('a', { href }, visible(`${path}:${line}`))
      const [before = '', match = '', after = ''] = parts.map(visible)
      const code = element('code', {}, before, element('mark', {}, match), after)
      return element('li', {}, link, ' ', code)
    })
    const places = counted(hits.length, 'place')
    const text = isMore ? `The first ${places}; there are more` : places
    this.#show(query, links, hits.length === 0 ? 'No file contains this text.' : text)
  }

  #show(query: string, items: readonly HTMLElement[], text: string | null): void {
    this.#results.hidden = query.trim() === ''
    this.#results.replaceChildren(
      ...(text === null ? [] : [element('p', { className: 'quiet small', role: 'status' }, text)]),
      element('ul', { className: 'plain' }, ...items),
    )
  }
}

function field(label: string, onInput: () => unknown): HTMLInputElement {
  const input = element('input', { type: 'search', placeholder: label, autocomplete: 'off' })
  input.spellcheck = false
  input.addEventListener('input', () => void onInput())
  return input
}

function labeled(input: HTMLInputElement): HTMLElement {
  return element('label', { className: 'field' }, element('span', {}, input.placeholder), input)
}

/** Returns how well a path fits: null if it lacks a word, higher if its name has the first one. */
function rankOf(path: string, words: readonly string[]): number | null {
  const text = path.toLowerCase()
  if (!words.every(word => text.includes(word))) return null
  const name = text.slice(text.lastIndexOf('/') + 1)
  const [first = ''] = words
  return name.startsWith(first) ? 2 : name.includes(first) ? 1 : 0
}
