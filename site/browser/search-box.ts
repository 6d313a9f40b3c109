import { type FoundCrate, Lookup } from '../../core/search/lookup.ts'

/** Crates that a list under the search box shows, and that a results page shows at once. */
const SUGGESTED = 8
const SHOWN = 30

/** How long nothing must have been typed before a search, in milliseconds: who types on does not want it. */
const CALM = 80

const lookups = new Map<string, Lookup>()

function lookupAt(base: string): Lookup {
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

function tag(name: string, className: string, text: string): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.textContent = text
  return element
}

function heading(entry: FoundCrate): Node[] {
  const parts: Node[] = [
    tag('strong', '', entry.name),
    new Text(' '),
    tag('span', 'quiet', entry.version),
  ]
  if (entry.yanked) parts.push(new Text(' '), tag('span', 'badge bad', 'yanked'))
  return parts
}

/** Makes a search form answer while one types: a combobox with a list, as ARIA describes it. */
export function answerWhileTyping(form: HTMLFormElement, input: HTMLInputElement): void {
  const lookup = lookupAt(form.dataset.search ?? '')
  const list = tag('ul', 'suggestions', '')
  const links: string[] = []
  let chosen = -1
  let latest = 0
  let timer = 0
  list.id = `suggestions-${document.querySelectorAll('.suggestions').length}`
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Crates')
  list.hidden = true
  form.append(list)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': list.id,
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value)

  const choose = (at: number): void => {
    chosen = at
    for (const [index, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(index === at))
    if (at < 0) input.removeAttribute('aria-activedescendant')
    else input.setAttribute('aria-activedescendant', `${list.id}-${at}`)
    list.children[at]?.scrollIntoView({ block: 'nearest' })
  }
  const close = (): void => {
    clearTimeout(timer)
    latest++
    list.hidden = true
    input.setAttribute('aria-expanded', 'false')
    choose(-1)
  }
  const show = (entries: readonly FoundCrate[]): void => {
    links.length = 0
    list.replaceChildren(
      ...entries.map((entry, at) => {
        const option = tag('li', '', '')
        option.id = `${list.id}-${at}`
        option.setAttribute('role', 'option')
        option.append(...heading(entry), tag('span', 'text', entry.description))
        const link = `${form.dataset.crates}${entry.name}/`
        links.push(link)
        option.addEventListener('mousedown', event => {
          // The box keeps the focus, so the list stays; other buttons open menus and tabs.
          event.preventDefault()
          if (event.button === 0) location.assign(link)
        })
        return option
      }),
    )
    list.hidden = entries.length === 0
    input.setAttribute('aria-expanded', String(!list.hidden))
    choose(-1)
  }
  const answer = async (): Promise<void> => {
    const turn = ++latest
    const found = await lookup.find(input.value, SUGGESTED)
    if (turn === latest && document.activeElement === input) show(found.crates)
  }
  input.addEventListener('input', () => {
    // What was chosen was chosen among the answers to another text.
    choose(-1)
    clearTimeout(timer)
    timer = setTimeout(answer, CALM)
  })
  input.addEventListener('blur', close)
  input.addEventListener('keydown', event => {
    if (event.key === 'Escape' && !list.hidden) {
      // The browser's own Escape would empty the box.
      event.preventDefault()
      close()
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && links.length > 0) {
      event.preventDefault()
      // Nobody chooses what is not shown.
      list.hidden = false
      input.setAttribute('aria-expanded', 'true')
      // One place more than there are crates: the box itself.
      const places = links.length + 1
      choose(((chosen + 1 + step + places) % places) - 1)
    }
    const link = links[chosen]
    if (event.key === 'Enter' && link !== undefined) {
      event.preventDefault()
      location.assign(link)
    }
  })
  if (input.value !== '') void answer()
}

/** Fills the results page of a tree that no server answers for. */
export async function fillResults(results: HTMLElement, query: string): Promise<void> {
  const status = results.querySelector<HTMLElement>('[data-status]')
  const list = results.querySelector<HTMLElement>('[data-list]')
  const button = results.querySelector<HTMLButtonElement>('[data-more]')
  if (status === null || list === null || button === null) return
  let limit = SHOWN
  const fill = async (): Promise<void> => {
    const { crates, more } = await lookupAt(results.dataset.results ?? '').find(query, limit)
    status.textContent =
      query.trim() === ''
        ? 'Type a name or a few words.'
        : crates.length === 0
          ? `No crates for “${query}”.`
          : `${more ? 'The best ' : ''}${crates.length} ${crates.length === 1 ? 'crate' : 'crates'} for “${query}”`
    list.replaceChildren(
      ...crates.map(entry => result(`${results.dataset.crates}${entry.name}/`, entry)),
    )
    button.hidden = !more
  }
  button.addEventListener('click', () => {
    const before = list.children.length
    limit += SHOWN
    // The button may be hidden afterwards, so the focus moves to the first new crate.
    void fill().then(() => list.children[before]?.querySelector('a')?.focus())
  })
  try {
    await fill()
  } catch (error) {
    status.textContent = 'The search index could not be loaded. Is the network there?'
    throw error
  }
}

function result(link: string, entry: FoundCrate): HTMLElement {
  const item = document.createElement('li')
  const anchor = document.createElement('a')
  anchor.className = 'card'
  anchor.href = link
  const name = tag('span', 'card-name', '')
  name.append(...heading(entry))
  anchor.append(name, tag('span', 'card-text', entry.description))
  item.append(anchor)
  return item
}
