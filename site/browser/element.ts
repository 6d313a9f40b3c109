import { formatNumber } from '../../core/quantity.ts'

/** Makes an element with properties and children; strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  facts: Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'dataset'>> = {},
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), facts)
  made.append(...children.filter(child => child !== null))
  return made
}

/** Returns the element of a page that a selector names; the page was rendered with it. */
export function part<E extends HTMLElement = HTMLElement>(root: ParentNode, selector: string): E {
  const found = root.querySelector<E>(selector)
  if (found === null) throw new Error(`the page has no ${selector}`)
  return found
}

/** Makes a button that does something. */
export function button(text: string, act: () => unknown): HTMLButtonElement {
  const made = element('button', { type: 'button', className: 'tool' }, text)
  made.addEventListener('click', () => void act())
  return made
}

/** How many entries a list shows at first, and more at each click. */
export const SHOWN = 1000

/** What a list shows: an array, or what comes from elsewhere a slice at a time. */
export interface Items<T> {
  readonly length: number
  slice(first: number, end: number): readonly T[] | Promise<readonly T[]>
}

/**
 * Appends the elements of the first items to a list, and a button that appends more of them. After
 * each `batch` the page has time for its reader.
 */
export async function appendSome<T>(
  list: HTMLElement,
  items: Items<T>,
  make: (item: T, at: number) => HTMLElement,
  batch = SHOWN,
  from = 0,
): Promise<void> {
  const end = from + SHOWN
  for (let first = from; first < Math.min(end, items.length); first += batch) {
    if (first > from) await new Promise(resolve => setTimeout(resolve))
    const slice = items.slice(first, Math.min(first + batch, end))
    // At once if they are here: who opens a folder goes on with what is in it.
    const some = slice instanceof Promise ? await slice : slice
    list.append(...some.map((item, at) => make(item, first + at)))
  }
  if (end >= items.length) return
  const left = `${formatNumber(items.length - end)} more are not shown`
  const more = element('li', { className: 'more' }, `${left}. `)
  const show = () => {
    more.remove()
    return appendSome(list, items, make, batch, end)
  }
  more.append(button('Show more', show))
  list.append(more)
}
