import type { DefaultTreeAdapterTypes } from 'parse5'
import {
  blockReferences,
  declarationsIn,
  plainCss,
  type Reference,
  referencesOf,
  rulesOf,
  type SheetRules,
  UNKNOWN,
} from './svg-rules.ts'

type Element = DefaultTreeAdapterTypes.Element

/** How many elements references draw: once with an element, or with each one that is inside it. */
interface Drawn {
  own: number
  paints: number
  markers: number
}

/** References to what costs no more with every element that it colors. */
const CHEAP: ReadonlySet<string> = new Set(['linearGradient', 'radialGradient', 'filter'])
const PAINT = /^(?:fill|stroke)$/
/** Markers that a path has once; any other is drawn at each of its vertices. */
const ONCE = /^marker-(?:start|end)$/
const MARKER = /^marker(?:-\w+)?$/
/** Properties of elements that an element inside can take over by `inherit`. */
const TAKEN_OVER = /mask|clip-path|^all$/
/** Attributes with the vertices of a path, also while it is animated. */
const PATHS: ReadonlySet<string> = new Set(['d', 'points', 'values', 'from', 'to', 'by'])
/** Maximum length of a chain of elements and references; a drawing is nested 100 deep. */
const CHAIN_MAX = 1000
/** Maximum number of references that are followed; 20 MB of honest ones. */
const FOLLOWED_MAX = 1_000_000

/**
 * Returns how many elements a browser draws at most: parts to which `use`, patterns, masks, clip
 * paths and markers refer count as often as they are drawn. Ten levels of ten references are ten
 * billion. Infinity for parts that contain themselves or are nested without end, and where nobody
 * can tell how often: animations that change references, variables, selectors that match anything.
 */
export function drawnElements(root: Element): number {
  return new Drawing(root).drawn()
}

class Drawing {
  readonly #root: Element
  readonly #all: readonly Element[]
  readonly #byId: ReadonlyMap<string | undefined, Element>
  readonly #clonable: ReadonlySet<Element>
  readonly #rules: SheetRules
  readonly #vertices: number
  readonly #isTakenOver: boolean
  readonly #counts = new Map<Element, number>()
  readonly #targets = new Map<string, number>()
  readonly #drawnOfElements = new Map<Element, Drawn>()
  readonly #drawnOfKeys = new Map<string, Drawn>()
  #followed = 0

  constructor(root: Element) {
    this.#root = root
    this.#all = descendants(root)
    this.#byId = new Map(this.#all.toReversed().map(one => [attributeOf(one, 'id'), one]))
    this.#clonable = clonableParts(this.#all, this.#byId)
    const styles = this.#all.filter(one => one.tagName === 'style')
    const sheets = styles.map(style => plainCss(textOf(style)))
    this.#rules = rulesOf(sheets)
    this.#vertices = maxVertices(this.#all)
    this.#isTakenOver = takesOver(this.#all, sheets)
  }

  drawn(): number {
    const { byKey, anywhere } = this.#rules
    // An animation of classes can apply any rule.
    const isAnimated = this.#all.some(one => attributeOf(one, 'attributeName') === 'class')
    const unlimited = isAnimated ? [anywhere, ...byKey.values()].flat() : anywhere
    const isUnlimited = unlimited.some(({ id }) => this.#countOf(this.#byId.get(id), 0) > 0)
    return isUnlimited ? Number.POSITIVE_INFINITY : this.#countOf(this.#root, 0)
  }

  #countOf(one: Element | undefined, chain: number): number {
    if (one === undefined || CHEAP.has(one.tagName)) return 0
    const known = this.#counts.get(one)
    if (known !== undefined) return known
    if (chain > CHAIN_MAX) return Number.POSITIVE_INFINITY
    this.#counts.set(one, Number.POSITIVE_INFINITY)
    let own = 1
    for (const child of elementsIn(one)) own += this.#countOf(child, chain + 1)
    const link = attributeOf(one, 'href')?.slice(1) ?? ''
    if (one.tagName === 'use') own += this.#countOf(this.#byId.get(link), chain + 1)
    if (one.tagName === 'pattern') own += this.#targetOf(link, chain + 1)
    const count = (own + this.#drawnOf(one, chain).own) * this.#timesOf(one, chain)
    this.#counts.set(one, count)
    return count
  }

  /** What a reference draws. What holds for all elements around a part also holds in the part. */
  #targetOf(id: string, chain: number): number {
    const known = this.#targets.get(id)
    if (known !== undefined) return known
    const target = this.#byId.get(id)
    let count = this.#countOf(target, chain)
    // Infinity may be the count of a part that is not yet counted.
    if (target === undefined || count === 0 || !Number.isFinite(count)) return count
    for (const outer of around(target)) count *= this.#timesOf(outer, chain + 1)
    if (Number.isFinite(count)) this.#targets.set(id, count)
    return count
  }

  /** How often an element and all inside it are drawn with what they inherit from it. */
  #timesOf(one: Element, chain: number): number {
    const { paints, markers } = this.#drawnOf(one, chain)
    // A marker can be painted with the paint of its line.
    return (1 + paints) * (1 + markers)
  }

  #drawnOf(one: Element, chain: number): Drawn {
    const known = this.#drawnOfElements.get(one)
    if (known !== undefined) return known
    const infinite = Number.POSITIVE_INFINITY
    this.#drawnOfElements.set(one, { own: infinite, paints: infinite, markers: infinite })
    const { drawn } = this.#drawnBy(ownReferences(one), one, chain)
    for (const key of keysOf(one)) add(drawn, this.#drawnByRules(key, one, chain))
    this.#drawnOfElements.set(one, drawn)
    return drawn
  }

  #drawnByRules(key: string, one: Element, chain: number): Drawn {
    const known = this.#drawnOfKeys.get(key)
    if (known !== undefined) return known
    const { drawn, isComplete } = this.#drawnBy(this.#rules.byKey.get(key) ?? [], one, chain)
    if (isComplete) this.#drawnOfKeys.set(key, drawn)
    return drawn
  }

  /** Counts what references of an element draw; not complete where it is part of one of them. */
  #drawnBy(references: readonly Reference[], one: Element, chain: number) {
    const drawn: Drawn = { own: 0, paints: 0, markers: 0 }
    let isComplete = true
    for (const { property, id } of references) {
      if (++this.#followed > FOLLOWED_MAX) drawn.own = Number.POSITIVE_INFINITY
      if (drawn.own === Number.POSITIVE_INFINITY) return { drawn, isComplete: true }
      const target = this.#byId.get(id)
      let count = this.#targetOf(id, chain + 1)
      if (count === 0 || target === undefined) continue
      const isEndless = count === Number.POSITIVE_INFINITY
      // No browser draws a part inside itself, such as a rule for paths in a marker with a path.
      if (isEndless && !this.#clonable.has(target) && isInside(one, target)) {
        isComplete = false
        continue
      }
      if (target.tagName === 'marker' && !ONCE.test(property)) count *= this.#vertices
      if (property.startsWith(UNKNOWN) || one.tagName.startsWith('animate'))
        drawn.own = Number.POSITIVE_INFINITY
      else if (MARKER.test(property)) drawn.markers += count
      else if (PAINT.test(property) || this.#isTakenOver) drawn.paints += count
      else drawn.own += count
    }
    return { drawn, isComplete }
  }
}

function ownReferences({ attrs }: Element): Reference[] {
  return attrs.flatMap(({ name, value }) =>
    name === 'style' ? blockReferences(plainCss(value)) : referencesOf(name, value),
  )
}

/** Returns by which keys rules apply to an element. */
function keysOf(one: Element): Set<string> {
  const id = attributeOf(one, 'id')
  const classes = attributeOf(one, 'class')?.split(/[ \t\n\r\f]+/) ?? []
  return new Set([one.tagName, `#${id}`, ...classes.map(name => `.${name}`)])
}

/** Returns what can be drawn elsewhere than its place, wholly or a part of it. */
function clonableParts(
  all: readonly Element[],
  byId: ReadonlyMap<string | undefined, Element>,
): Set<Element> {
  const found = new Set<Element>()
  for (const one of all) {
    const linked = byId.get(attributeOf(one, 'href')?.slice(1) ?? '')
    if (linked !== undefined) found.add(linked)
    if (attributeOf(one, 'id') !== undefined) for (const outer of around(one)) found.add(outer)
  }
  return found
}

/** Returns how many vertices a path of the drawing has at most: each takes a character. */
function maxVertices(all: readonly Element[]): number {
  const paths = all.flatMap(one =>
    one.attrs
      .filter(({ name, value }) => PATHS.has(name) || (name === 'style' && /path\(/i.test(value)))
      .map(({ value }) => value)
      .concat(one.tagName === 'style' && /path\(/i.test(textOf(one)) ? textOf(one) : []),
  )
  return paths.reduce((max, { length }) => Math.max(max, length), 1) + 1
}

/** Whether an element can take over from around it what others do not inherit. */
function takesOver(all: readonly Element[], sheets: readonly string[]): boolean {
  const styles = all.flatMap(one => attributeOf(one, 'style') ?? []).map(plainCss)
  const declarations = [...sheets, ...styles].flatMap(declarationsIn)
  const attributes = all.flatMap(({ attrs }) => attrs.map(({ name, value }) => [name, value]))
  return [...declarations, ...attributes].some(
    ([name = '', value = '']) => TAKEN_OVER.test(name) && /inherit/i.test(value),
  )
}

function add(total: Drawn, { own, paints, markers }: Drawn): void {
  total.own += own
  total.paints += paints
  total.markers += markers
}

function isInside(one: Element, part: Element): boolean {
  for (const outer of around(one)) if (outer === part) return true
  return false
}

/** Yields the elements around one, from the nearest. */
function* around(one: Element): Generator<Element> {
  let outer = one.parentNode
  while (outer !== null && 'tagName' in outer) {
    yield outer
    outer = outer.parentNode
  }
}

/** Returns an element and all inside it as they stand in the text. */
function descendants(root: Element): Element[] {
  const found: Element[] = []
  const next = [root]
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    found.push(one)
    for (const child of elementsIn(one).reverse()) next.push(child)
  }
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
