import { formatNumber } from '../../core/quantity.ts'

/** Makes an element with properties and children; strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'dataset'>> = {},
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children.filter(child => child !== null))
  return made
}

/** Returns the element of a page that a selector names; the page was rendered with it. */
export function part<E extends HTMLElement = HTMLElement>(root: ParentNode, selector: string): E {
  const match = root.querySelector<E>(selector)
  if (match === null) throw new Error(`the page has no ${selector}`)
  return match
}

/** Makes a button that does something. */
export function button(text: string, act: () => unknown): HTMLButtonElement {
  const made = element('button', { type: 'button', className: 'button small' }, text)
  made.addEventListener('click', () => void act())
  return made
}

/** How many entries a list shows at first, and more at each click. */
export const SHOWN = 1000

/**
 * Appends the elements of the first items to a list, and a button that appends more of them. After
 * each `batch` the page has time for its reader.
 */
export async function appendSome<T>(
  list: HTMLElement,
  items: readonly T[],
  make: (item: T, at: number) => HTMLElement,
  batch = SHOWN,
  from = 0,
): Promise<void> {
  const end = from + SHOWN
  for (let first = from; first < Math.min(end, items.length); first += batch) {
    if (first > from) await new Promise(resolve => setTimeout(resolve))
    const slice = items.slice(first, Math.min(first + batch, end))
    list.append(...slice.map((item, at) => make(item, first + at)))
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

/** Waits until the page is painted as it is now. */
export function painted(): Promise<unknown> {
  return new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))
}
