import { type DefaultTreeAdapterMap, defaultTreeAdapter, type TreeAdapter } from 'parse5'

/** Maximum number of nodes in a README; a long README with much highlighted code has 50,000. */
const NODES_MAX = 200_000

/** Maximum number of elements except those that color code: browsers lay out all at once. */
export const ELEMENTS_MAX = 8000

/** Maximum depth of the tree; the same limit as in Blink. */
const DEPTH_MAX = 512

/**
 * Maximum number of characters of one block, or of several without elements, in scripts that
 * browsers take long to lay out: from right to left, with joined letters, without spaces.
 */
const SLOW_MAX = 5000
const SLOW = /[\u0590-\u109f\u1780-\u18af\u1950-\u1aad]/g

const BLOCK = /^(?:blockquote|caption|d[dlt]|details|div|fig|h\d|li|ol|p|section|summary|t[dhr]|ul)/

/** Thrown for a README that is too costly to render; it is shown as plain text instead. */
export class TooComplexError extends Error {}

type Node = DefaultTreeAdapterMap['node']
type Parent = DefaultTreeAdapterMap['parentNode']

/**
 * Returns a tree adapter for parse5 that throws `TooComplexError`. The HTML standard makes parsers
 * reopen unclosed `<b>` and similar tags in each paragraph, which turns n tags into n² nodes.
 */
export function boundedTree(elementsMax = NODES_MAX): TreeAdapter<DefaultTreeAdapterMap> {
  const depths = new WeakMap<Node, number>()
  let nodes = 0
  let elements = 0
  let slow = 0
  const addText = (text: string): void => {
    count()
    slow += text.match(SLOW)?.length ?? 0
    if (slow > SLOW_MAX) throw new TooComplexError('a paragraph is too long')
  }
  const count = (): void => {
    if (++nodes > NODES_MAX) throw new TooComplexError('it has too many elements')
  }
  const descend = (parent: Parent, child: Node): void => {
    const depth = (depths.get(parent) ?? 0) + 1
    if (depth > DEPTH_MAX) throw new TooComplexError('its elements are nested too deeply')
    depths.set(child, depth)
  }
  return {
    ...defaultTreeAdapter,
    createElement(...args) {
      count()
      if (BLOCK.test(args[0])) slow = 0
      if (args[0] !== 'span' && ++elements > elementsMax)
        throw new TooComplexError('it has too many elements')
      return defaultTreeAdapter.createElement(...args)
    },
    appendChild(parent, child) {
      descend(parent, child)
      defaultTreeAdapter.appendChild(parent, child)
    },
    insertBefore(parent, child, reference) {
      descend(parent, child)
      defaultTreeAdapter.insertBefore(parent, child, reference)
    },
    insertText(parent, text) {
      addText(text)
      defaultTreeAdapter.insertText(parent, text)
    },
    insertTextBefore(parent, text, reference) {
      addText(text)
      defaultTreeAdapter.insertTextBefore(parent, text, reference)
    },
  }
}
