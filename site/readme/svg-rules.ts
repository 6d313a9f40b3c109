/** A reference to a part of the drawing, by a property. */
export interface Reference {
  readonly property: string
  readonly id: string
}

/** What style sheets refer to. */
export interface SheetRules {
  /** By what an element must have: its tag, `.class` or `#id`. */
  readonly byKey: ReadonlyMap<string, readonly Reference[]>
  /** References that may hold for any element. */
  readonly anywhere: readonly Reference[]
}

/** The property of references that cannot be told: a variable can be used anywhere, any often. */
export const UNKNOWN = '--'
const REFERENCE = /\burl\s*\(\s*["']?#([\w:.-]+)/gi
/** A compound selector of a tag, classes and ids. All beyond ASCII belongs to names. */
const COMPOUND = /^[\w\u0080-\uffff-]*(?:[.#][\w\u0080-\uffff-]+)*$/
/** White space and combinators; in CSS there is no other white space. */
const BETWEEN = /[ \t\n\r\f>+~]+/
const KEYS = /[.#]?[^.#]+/g

/** Returns what a value of a property refers to. */
export function referencesOf(property: string, value: string): Reference[] {
  return [...value.matchAll(REFERENCE)].map(([, id = '']) => ({ property, id }))
}

/** Returns what the declarations of a block or of an attribute `style` refer to. */
export function blockReferences(plain: string): Reference[] {
  const parts = plain.split(';')
  // A semicolon inside brackets ends no declaration.
  if (!parts.every(isBalanced)) return referencesOf(UNKNOWN, plain)
  return parts.flatMap(part => {
    const [property, value] = declaration(part)
    return referencesOf(property, value)
  })
}

/** Returns the declarations in a text, also in blocks; what is none has no meaning. */
export function declarationsIn(plain: string): [property: string, value: string][] {
  return plain.split(/[{};]/).map(declaration)
}

/**
 * Returns CSS without comments and strings, except those that name a part of the drawing. It must
 * be without escapes, which no attribute and no style sheet of a clean drawing has.
 */
export function plainCss(css: string): string {
  return css.replaceAll(/\/\*[\s\S]*?(?:\*\/|$)|"[^"\n\r\f]*"?|'[^'\n\r\f]*'?/g, token => {
    if (token.startsWith('/*')) return ' '
    return /^.#[\w:.-]+.$/.test(token) ? token.slice(1, -1) : '""'
  })
}

/**
 * Reads what style sheets refer to. A rule holds for at least the elements that browsers apply it
 * to: only one tag, class or id of the elements themselves is compared.
 */
export function rulesOf(sheets: readonly string[]): SheetRules {
  const byKey = new Map<string, Reference[]>()
  const anywhere: Reference[] = []
  for (const sheet of sheets) {
    const blocks = innermostBlocks(sheet).map(([selectors, block]) => ({
      selectors,
      references: blockReferences(block),
    }))
    const read = blocks.reduce((count, { references }) => count + references.length, 0)
    const all = referencesOf(UNKNOWN, sheet)
    // The others stand beside nested blocks, or where no block was seen.
    if (read !== all.length) anywhere.push(...all)
    for (const { selectors, references } of blocks) {
      if (references.length === 0) continue
      for (const key of keysOf(selectors)) {
        const known = key === null ? anywhere : byKey.get(key)
        if (key !== null && known === undefined) byKey.set(key, [...references])
        else for (const reference of references) known?.push(reference)
      }
    }
  }
  return { byKey, anywhere }
}

/** Splits a sheet into the blocks without blocks inside, each with the text before it. */
function innermostBlocks(sheet: string): [selectors: string, block: string][] {
  return sheet.split('}').flatMap((text): [string, string][] => {
    const parts = text.split('{')
    const block = parts.pop() ?? ''
    const selectors = parts.pop()
    return selectors === undefined ? [] : [[selectors.split(';').pop() ?? '', block]]
  })
}

/** Returns a key for each of the selectors; null for one that any element could match. */
function keysOf(selectors: string): Set<string | null> {
  const plain = selectors.replaceAll(/\([^()]*\)/g, '').replaceAll(/\[[^[\]]*\]/g, '')
  if (/[()[\]@]/.test(plain)) return new Set([null])
  return new Set(
    plain.split(',').map(selector => {
      const compound = selector.split(BETWEEN).findLast(part => part !== '') ?? ''
      const kept = compound.replaceAll(/::?[\w-]+/g, '')
      // These two are steps of an animation.
      if (!COMPOUND.test(kept) || /^(?:from|to)$/i.test(kept)) return null
      return kept.match(KEYS)?.pop() ?? null
    }),
  )
}

function declaration(text: string): [property: string, value: string] {
  const [property = '', ...value] = text.split(':')
  return [property.trim().toLowerCase(), value.join(':')]
}

function isBalanced(text: string): boolean {
  const count = (bracket: RegExp) => text.match(bracket)?.length ?? 0
  return count(/[([{]/g) === count(/[)\]}]/g)
}
