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
