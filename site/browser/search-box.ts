import { type FoundCrate, Lookup } from '../../core/search/lookup.ts'

/** Number of crates in the list under the search box, and on a page of results. */
const SUGGESTED = 8
const SHOWN = 30

/** Milliseconds without typing after which a search starts. */
const PAUSE = 80

const lookups = new Map<string, Lookup>()

function lookupAt(base = ''): Lookup {
  const url = new URL(base, location.href).href
  const lookup = lookups.get(url) ?? new Lookup((path, isFresh) => load(url + path, isFresh))
  lookups.set(url, lookup)
  return lookup
}

async function load(url: string, isFresh: boolean): Promise<unknown> {
  const answer = await fetch(url, { cache: isFresh ? 'reload' : 'default' })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return answer.json()
}

function tag(name: string, className: string, ...content: (Node | string)[]): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.append(...content)
  return element
}

function set<T extends Element>(element: T, attributes: Record<string, string>): T {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

function heading({ name, version, yanked }: FoundCrate): (Node | string)[] {
  const parts = [tag('strong', '', name), ' ', tag('span', 'quiet', version)]
  return yanked ? [...parts, ' ', tag('span', 'badge bad', 'yanked')] : parts
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
    input.addEventListener('blur', () => this.#close())
    input.addEventListener('keydown', event => this.#key(event))
    if (input.value !== '') void this.#search()
  }

  async #search(): Promise<void> {
    const search = ++this.#latest
    const { crates } = await this.#lookup.find(this.#input.value, SUGGESTED)
    if (search !== this.#latest || document.activeElement !== this.#input) return
    this.#links = crates.map(crate => `${this.#crates}${crate.name}/`)
    this.#list.replaceChildren(...crates.map((crate, at) => this.#option(crate, at)))
    this.#toggle(crates.length > 0)
    this.#choose(-1)
  }

  #option(crate: FoundCrate, at: number): HTMLElement {
    const option = tag('li', '', ...heading(crate), tag('span', 'text', crate.description))
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

/** Fills the results page of a registry without a daemon. */
export async function fillResults(results: HTMLElement, query: string): Promise<void> {
  const status = results.querySelector('[data-status]')
  const list = results.querySelector('[data-list]')
  const button = results.querySelector<HTMLButtonElement>('[data-more]')
  if (status === null || list === null || button === null) return
  let limit = SHOWN
  const fill = async (): Promise<void> => {
    const { crates, more } = await lookupAt(results.dataset.results).find(query, limit)
    const count = `${crates.length || 'No'} ${crates.length === 1 ? 'crate' : 'crates'}`
    status.textContent =
      query.trim() === ''
        ? 'Type a name or a few words.'
        : `${more ? 'The best ' : ''}${count} for “${query}”`
    list.replaceChildren(
      ...crates.map(crate => {
        const name = tag('span', 'card-name', ...heading(crate))
        const link = tag('a', 'card', name, tag('span', 'card-text', crate.description))
        return tag('li', '', set(link, { href: `${results.dataset.crates}${crate.name}/` }))
      }),
    )
    button.hidden = !more
  }
  button.addEventListener('click', async () => {
    const before = list.children.length
    limit += SHOWN
    await fill()
    // The button may be hidden now, so the focus moves to the first new crate.
    list.children[before]?.querySelector('a')?.focus()
  })
  try {
    await fill()
  } catch (error) {
    status.textContent = 'The search index could not be loaded. Check your network connection.'
    throw error
  }
}
