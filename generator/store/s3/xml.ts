/**
 * Reads the small XML documents in which S3 answers: elements with text, without attributes that
 * matter. Anything else, such as a document type or an unknown entity, is refused, so there is
 * nothing in it to expand.
 */

/** An element: its name, its text, and the elements in it. */
export interface Element {
  readonly name: string
  readonly text: string
  readonly children: readonly Element[]
}

/** The deepest nesting of the answers of S3 is 4. */
const DEPTH = 16

const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

interface Open {
  readonly name: string
  text: string
  readonly children: Element[]
}

/** Parses a document; returns null when it is not of this kind. */
export function parseXml(source: string): Element | null {
  const text = source.replace(/^\uFEFF?\s*(?:<\?xml[^<>]*\?>)?/, '').trimEnd()
  const pattern = /<(\/?)([A-Za-z_][\w.:-]{0,100})((?:\s[^<>]*)?\/?)>|([^<]+)/gy
  const open: Open[] = [{ name: '', text: '', children: [] }]
  let end = 0
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    end = pattern.lastIndex
    const [, slash, name = '', rest = '', words] = found
    const top = open.at(-1)
    if (!top || open.length > DEPTH) return null
    if (words !== undefined) {
      const decoded = decode(words)
      if (decoded === null) return null
      top.text += decoded
    } else if (slash === '/') {
      if (top.name !== name || open.length === 1) return null
      open.pop()
      open.at(-1)?.children.push(top)
    } else {
      const one = { name, text: '', children: [] }
      if (rest.endsWith('/')) top.children.push(one)
      else open.push(one)
    }
  }
  const [root] = open
  if (end !== text.length || open.length !== 1 || root?.text.trim() !== '') return null
  return root.children.length === 1 ? (root.children[0] ?? null) : null
}

/** Returns the text of a direct child; '' when there is none. */
export function childText(element: Element | null, name: string): string {
  return element?.children.find(one => one.name === name)?.text ?? ''
}

/** Returns the direct children of this name. */
export function childrenOf(element: Element | null, name: string): readonly Element[] {
  return element?.children.filter(one => one.name === name) ?? []
}

function decode(words: string): string | null {
  let isSound = true
  const text = words.replace(/&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-z]{1,10}));|&/g, one => {
    const [, hex, digits, name] = /^&(?:#x(.*)|#(.*)|(.*));$/.exec(one) ?? []
    const code = hex ? Number.parseInt(hex, 16) : digits ? Number(digits) : null
    const letter = code === null ? ENTITIES.get(name ?? '') : letterOf(code)
    if (letter === undefined) isSound = false
    return letter ?? ''
  })
  return isSound ? text : null
}

function letterOf(code: number): string | undefined {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
