import type { DefaultTreeAdapterTypes } from 'parse5'
import { DROPPED } from './allowed.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** The remainder of a node: nothing because of badges, nothing anyway, or something. */
type Rest = 'left out' | 'blank' | 'something'

/** Parts of tables, which keep their place when they are empty. */
const CELLS: ReadonlySet<string> = new Set(['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'])

/** Text that only separates badges. */
const SEPARATORS = /^[\s\u00a0|·•∙–—\-/,]*$/

/**
 * Removes nodes of a README that consist of badges: a link around a badge, a paragraph or table of
 * such links, and text between two of them.
 */
export class LeftOut {
  readonly #isBadge: (image: Element) => boolean
  readonly #rests = new Map<Node, Rest>()

  constructor(isBadge: (image: Element) => boolean) {
    this.#isBadge = isBadge
  }

  /** Returns whether a node vanishes, given with its siblings. */
  has(nodes: readonly Node[], at: number): boolean {
    const node = nodes[at]
    if (node === undefined) return false
    if (node.nodeName === '#text') return this.#isBetween(nodes, at)
    return !CELLS.has(node.nodeName) && this.#rest(node) === 'left out'
  }

  #rest(node: Node): Rest {
    const cached = this.#rests.get(node)
    if (cached !== undefined) return cached
    const rest = this.#find(node)
    this.#rests.set(node, rest)
    return rest
  }

  #find(node: Node): Rest {
    if (node.nodeName === '#text') {
      const { value } = node as DefaultTreeAdapterTypes.TextNode
      return SEPARATORS.test(value) ? 'blank' : 'something'
    }
    if (!('tagName' in node) || DROPPED.has(node.tagName)) return 'blank'
    if (node.tagName === 'img') return this.#isBadge(node) ? 'left out' : 'something'
    if (node.tagName === 'br' || node.tagName === 'source') return 'blank'
    if (node.tagName === 'hr' || node.tagName === 'input') return 'something'
    if (node.tagName === 'a' && node.attrs.some(({ name }) => name === 'id' || name === 'name'))
      return 'something'
    const rests = node.childNodes.map(child => this.#rest(child))
    if (rests.includes('something')) return 'something'
    return rests.includes('left out') ? 'left out' : 'blank'
  }

  /** Whether a text separates a removed badge from something else. */
  #isBetween(nodes: readonly Node[], at: number): boolean {
    const { value } = nodes[at] as DefaultTreeAdapterTypes.TextNode
    if (!SEPARATORS.test(value) || value.trim() === '') return false
    return [nodes[at - 1], nodes[at + 1]].some(
      sibling =>
        sibling !== undefined && sibling.nodeName !== '#text' && this.#rest(sibling) === 'left out',
    )
  }
}
