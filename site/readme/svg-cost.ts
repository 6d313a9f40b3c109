import type { DefaultTreeAdapterTypes } from 'parse5'

type Element = DefaultTreeAdapterTypes.Element

/** References to what costs no more with every element that it colors. */
const CHEAP: ReadonlySet<string> = new Set(['linearGradient', 'radialGradient', 'filter'])
/** Properties that hold for all elements inside, and variables. */
const INHERITED = /^(?:fill|stroke|marker(?:-\w+)?|--.*)$/
/** Maximum length of a chain of elements and references; a drawing is nested 100 deep. */
const CHAIN_MAX = 1000
const REFERENCE = /\burl\s*\(\s*["']?#([\w:.-]+)/gi

/**
 * Returns how many elements a browser draws at most: parts to which `use`, patterns, masks, clip
 * paths and markers refer count as often as they are drawn. Ten levels of ten references are ten
 * billion. Infinity for parts that contain themselves or are nested without end, and for animations
 * that change references.
 */
export function drawnElements(root: Element): number {
  const all = descendants(root)
  const byId = new Map(all.toReversed().map(one => [attributeOf(one, 'id'), one]))
  const counts = new Map<Element, number>()

  const targetsOf = (text: string, chain: number): number =>
    sum([...text.matchAll(REFERENCE)].map(([, id = '']) => countOf(byId.get(id), chain)))

  const countOf = (one: Element | undefined, chain: number): number => {
    if (one === undefined || CHEAP.has(one.tagName)) return 0
    const known = counts.get(one)
    if (known !== undefined) return known
    if (chain > CHAIN_MAX) return Number.POSITIVE_INFINITY
    counts.set(one, Number.POSITIVE_INFINITY)
    let own = 1 + sum(elementsIn(one).map(child => countOf(child, chain + 1)))
    let each = 1
    for (const { name, value } of one.attrs) {
      if (name === 'href' && (one.tagName === 'use' || one.tagName === 'pattern'))
        own += countOf(byId.get(value.slice(1)), chain + 1)
      for (const [property, text] of declarations(name, value)) {
        const drawn = targetsOf(text, chain + 1)
        if (INHERITED.test(property)) each += drawn
        else
          own += one.tagName.startsWith('animate') && drawn > 0 ? Number.POSITIVE_INFINITY : drawn
      }
    }
    counts.set(one, own * each)
    return own * each
  }

  // A rule can hold for every element, also inside the parts that other rules name.
  const sheets = all.filter(one => one.tagName === 'style').map(textOf)
  const named = new Set(sheets.flatMap(css => [...css.matchAll(REFERENCE)].map(([, id]) => id)))
  const rules = [...named].map(id => Math.max(1, countOf(byId.get(id ?? ''), 0) - 1))
  return rules.reduce((product, count) => product * count, countOf(root, 0))
}

/** Splits the attribute `style` into its declarations; any other attribute is one. */
function declarations(name: string, value: string): [property: string, text: string][] {
  if (name !== 'style') return [[name, value]]
  const plain = value.replaceAll(/\/\*.*?\*\//gs, ' ')
  return plain.split(';').map(one => {
    const [property = '', ...text] = one.split(':')
    return [property.trim().toLowerCase(), text.join(':')]
  })
}

function descendants(root: Element): Element[] {
  const found = [root]
  // The list grows while it is walked.
  for (const one of found) for (const child of elementsIn(one)) found.push(child)
  return found
}

function elementsIn(parent: Element): Element[] {
  return parent.childNodes.filter((one): one is Element => 'tagName' in one)
}

function textOf(style: Element): string {
  return style.childNodes.map(one => ('value' in one ? one.value : '')).join('')
}

function attributeOf({ attrs }: Element, name: string): string | undefined {
  return attrs.find(one => one.name === name)?.value
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
