import { canonicalName, isName } from '../../core/name-rules.ts'
import { Lookup } from '../../core/search/lookup.ts'
import type { FoundCrate } from '../../core/search/read-files.ts'

const SUGGESTED = 8

/** Milliseconds without typing after which a search starts. */
const PAUSE = 80

/** Milliseconds for which Enter waits for the files of the search before it opens the results. */
const ENTER = 500

const lookups = new Map<string, Lookup>()

/** Returns the search with its files at a URL. */
export function lookupAt(base = ''): Lookup {
  const url = new URL(base, location.href).href
  const lookup = lookups.get(url) ?? new Lookup((path, isFresh) => load(url + path, isFresh))
  lookups.set(url, lookup)
  return lookup
}

async function load(url: string, isFresh: boolean): Promise<string> {
  const answer = await fetch(url, { cache: isFresh ? 'reload' : 'default' })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return answer.text()
}

/** Creates an element with a class and content. */
export function tag(name: string, className: string, ...content: (Node | string)[]): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.append(...content)
  return element
}

/** Sets attributes of an element. */
export function set<T extends Element>(element: T, attributes: Record<string, string>): T {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

function heading({ name, version, yanked }: FoundCrate): (Node | string)[] {
  const parts = [tag('strong', '', name), ' ', tag('span', 'quiet', version)]
  return yanked ? [...parts, ' ', tag('span', 'badge bad', 'yanked')] : parts
}

/** Returns a text as nodes; what is between backticks becomes code. */
function withCode(text: string): (Node | string)[] {
  const parts = text.split('`')
  if (parts.length % 2 === 0) return [text]
  return parts.map((part, at) => (at % 2 === 0 ? part : tag('code', '', part)))
}

/** Returns an item of a list of crates; `crates`: the URL of the folder of all crates. */
export function card(crate: FoundCrate, crates: string): HTMLElement {
  const name = tag('span', 'card-name', ...heading(crate))
  const link = tag('a', 'card', name, tag('span', 'card-text', ...withCode(crate.description)))
  return tag('li', '', set(link, { href: `${crates}${crate.name}/` }))
}

/** Adds suggestions to a search box: a combobox with a list box, by the ARIA pattern. */
export class Suggestions {
  readonly #input: HTMLInputElement
  readonly #lookup: Lookup
  readonly #crates: string
  readonly #list = tag('ul', 'suggestions')
  #links: string[] = []
  #chosen = -1
  /** Number of the latest search; results of earlier searches are not shown. */
  #latest = 0
  #timer = 0

  constructor(form: HTMLFormElement, input: HTMLInputElement) {
    this.#input = input
    this.#lookup = lookupAt(form.dataset.search)
    this.#crates = form.dataset.crates ?? ''
    const { id } = set(this.#list, { id: 'suggestions', role: 'listbox', 'aria-label': 'Crates' })
    form.append(this.#list)
    set(input, { role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': id })
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
    const found = await Promise.race([this.#lookup.suggest(name, SUGGESTED), late]).catch(() => [])
    const exact = found.find(crate => canonicalName(crate.name) === canonicalName(name))
    if (exact) location.assign(`${this.#crates}${exact.name}/`)
    else form.submit()
  }

  #option(crate: FoundCrate, at: number): HTMLElement {
    const option = tag(
      'li',
      '',
      ...heading(crate),
      tag('span', 'text', ...withCode(crate.description)),
    )
    set(option, { id: `${this.#list.id}-${at}`, role: 'option' })
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
    else set(this.#input, { 'aria-activedescendant': `${this.#list.id}-${at}` })
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
