import { canonicalName, isName } from '../../core/name-rules.ts'
import type { FoundCrate } from '../../core/search/files.ts'
import { Lookup } from '../../core/search/lookup.ts'
import { isolated } from '../../core/text.ts'
import { element } from './element.ts'

const SUGGESTED = 8

/** Milliseconds without typing after which a search starts. */
const PAUSE = 80

/** Milliseconds for which Enter waits for the files of the search before it opens the results. */
const ENTER = 500

/** The id and the class of the list; the ids of its options begin with it. */
const LIST = 'suggestions'

const lookups = new Map<string, Lookup>()

/** Returns the search with its files at a URL. */
export function lookupAt(base = ''): Lookup {
  const url = new URL(base, location.href).href
  const lookup =
    lookups.get(url) ?? new Lookup({ load: (path, isFresh) => load(url + path, isFresh) })
  lookups.set(url, lookup)
  return lookup
}

async function load(url: string, isFresh: boolean): Promise<string> {
  const answer = await fetch(url, { cache: isFresh ? 'reload' : 'default' })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return answer.text()
}

/** Sets attributes of an element. */
function set(element: Element, attributes: Record<string, string>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
}

function heading({ name, newest, yanked, isDeprecated }: FoundCrate): (Node | string)[] {
  const version = element('span', { className: 'quiet' }, newest)
  const words = [...(yanked ? ['yanked'] : []), ...(isDeprecated ? ['deprecated'] : [])]
  const badges = words.flatMap(word => [' ', element('span', { className: 'badge bad' }, word)])
  return [element('strong', {}, name), ' ', version, ...badges]
}

/** Returns the description as nodes; what is between backticks becomes code. */
function withCode({ about: { description } }: FoundCrate): (Node | string)[] {
  const text = isolated(description ?? '')
  const parts = text.split('`')
  if (parts.length % 2 === 0) return [text]
  return parts.map((part, at) => (at % 2 === 0 ? part : element('code', {}, part)))
}

/** Returns an item of a list of crates; `crates`: the URL of the folder of all crates. */
export function card(crate: FoundCrate, crates: string): HTMLElement {
  const name = element('span', { className: 'card-name' }, ...heading(crate))
  const text = element('span', { className: 'card-text' }, ...withCode(crate))
  const href = `${crates}${crate.name}/`
  return element('li', {}, element('a', { className: 'card', href }, name, text))
}

/** Adds suggestions to a search box: a combobox with a list box, by the ARIA pattern. */
export class Suggestions {
  readonly #input: HTMLInputElement
  readonly #lookup: Lookup
  readonly #crates: string
  readonly #list = element('ul', { id: LIST, className: LIST })
  #links: string[] = []
  #chosen = -1
  /** Number of the latest search; results of earlier searches are not shown. */
  #latest = 0
  #timer = 0

  constructor(form: HTMLFormElement, input: HTMLInputElement) {
    this.#input = input
    this.#lookup = lookupAt(form.dataset.search)
    this.#crates = form.dataset.crates ?? ''
    form.append(this.#list)
    set(this.#list, { role: 'listbox', 'aria-label': 'Crates' })
    set(input, { role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': LIST })
    this.#toggle(false)
    input.addEventListener('input', () => {
      // The chosen option was a result for another text.
      this.#choose(-1)
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#search(), PAUSE)
    })
    form.addEventListener('submit', event => void this.#submit(event, form))
    input.addEventListener('blur', () => this.#close())
    input.addEventListener('keydown', event => this.#key(event))
    if (input.value !== '') void this.#search()
  }

  async #search(): Promise<void> {
    const search = ++this.#latest
    const crates = await this.#lookup.suggest(this.#input.value, SUGGESTED)
    if (search !== this.#latest || document.activeElement !== this.#input) return
    this.#links = crates.map(crate => `${this.#crates}${crate.name}/`)
    this.#list.replaceChildren(...crates.map((crate, at) => this.#option(crate, at)))
    this.#toggle(crates.length > 0)
    this.#choose(-1)
  }

  /** Goes to the crate with just this name instead, if there is one. */
  async #submit(event: SubmitEvent, form: HTMLFormElement): Promise<void> {
    const name = this.#input.value.trim()
    const isFiltered = [...new FormData(form)].some(([field, value]) => field !== 'q' && value)
    if (isFiltered || !isName(name)) return
    event.preventDefault()
    const late = new Promise<FoundCrate[]>(resolve => setTimeout(resolve, ENTER, []))
    const suggestions = await Promise.race([this.#lookup.suggest(name, SUGGESTED), late]).catch(
      () => [],
    )
    const exact = suggestions.find(crate => canonicalName(crate.name) === canonicalName(name))
    if (exact) location.assign(`${this.#crates}${exact.name}/`)
    else form.submit()
  }

  #option(crate: FoundCrate, at: number): HTMLElement {
    const text = element('span', { className: 'text' }, ...withCode(crate))
    const option = element('li', { id: `${LIST}-${at}` }, ...heading(crate), text)
    set(option, { role: 'option' })
    option.addEventListener('mousedown', event => {
      // Keeps the focus in the box, so that the list stays; other buttons open menus and tabs.
      event.preventDefault()
      if (event.button === 0) this.#go(at)
    })
    return option
  }

  #key(event: KeyboardEvent): void {
    const isOpen = !this.#list.hidden
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape' && isOpen) this.#close()
    else if (step !== 0 && this.#links.length > 0) {
      this.#toggle(true)
      // The arrow keys go through the options and the box itself.
      const places = this.#links.length + 1
      this.#choose(((this.#chosen + 1 + step + places) % places) - 1)
    } else if (event.key === 'Enter' && this.#chosen >= 0) this.#go(this.#chosen)
    else return
    event.preventDefault()
  }

  #go(at: number): void {
    location.assign(this.#links[at] ?? '')
  }

  #choose(at: number): void {
    this.#chosen = at
    const options = [...this.#list.children]
    for (const [index, option] of options.entries())
      set(option, { 'aria-selected': `${index === at}` })
    if (at < 0) this.#input.removeAttribute('aria-activedescendant')
    else set(this.#input, { 'aria-activedescendant': `${LIST}-${at}` })
    options[at]?.scrollIntoView({ block: 'nearest' })
  }

  #toggle(isOpen: boolean): void {
    this.#list.hidden = !isOpen
    set(this.#input, { 'aria-expanded': `${isOpen}` })
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.#latest++
    this.#toggle(false)
    this.#choose(-1)
  }
}
