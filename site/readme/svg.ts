import { type DefaultTreeAdapterTypes, html as namespaces, parseFragment } from 'parse5'
import { boundedTree, TooComplexError } from './bounded-tree.ts'
import { SVG_ATTRIBUTES, SVG_OPENED, SVG_TAGS } from './svg-allowed.ts'
import { drawnElements } from './svg-cost.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** A drawing that is safe to show, with its size if it names one. */
export interface CleanSvg {
  readonly svg: string
  readonly width: number | null
  readonly height: number | null
}

/** Maximum nesting depth of elements. */
const DEPTH_MAX = 100
/** Maximum number of elements, counted as often as references draw them. */
const DRAWN_MAX = 1_000_000

/** Whether bytes look like an SVG: its root, after what XML allows before it. */
export function looksLikeSvg(text: string): boolean {
  const start = text.slice(0, 4096).replace(/^\uFEFF?\s*/, '')
  return /^(?:<\?xml|<!--|<!DOCTYPE\s+svg\b|<svg[\s>])/i.test(start) && /<svg[\s>]/i.test(text)
}

/**
 * Sanitizes an SVG: renders it again from the elements and attributes on a list. What remains has
 * no script, no link, and refers to nothing but its own parts. Null if there is no drawing.
 * Throws `TooComplexError` if it is too large, or would draw its parts too often.
 */
export function cleanSvg(text: string): CleanSvg | null {
  const root = rootOf(text)
  if (root === undefined) return null
  const parts: string[] = []
  write(root, parts, 0)
  const svg = parts.join('')
  // Counted without what was removed: references would lead to other parts of the same name.
  const clean = rootOf(svg)
  if (clean !== undefined && drawnElements(clean) > DRAWN_MAX)
    throw new TooComplexError('it draws too many elements')
  return { svg, ...sizeOf(root) }
}

function rootOf(text: string): Element | undefined {
  const tree = parseFragment(text, { treeAdapter: boundedTree() })
  return tree.childNodes.find((one): one is Element => one.nodeName === 'svg')
}

function write(node: Node, parts: string[], depth: number): void {
  if (node.nodeName === '#text') {
    parts.push(escaped((node as DefaultTreeAdapterTypes.TextNode).value))
    return
  }
  if (!('tagName' in node) || depth > DEPTH_MAX) return
  const name = node.tagName
  const isDrawing = node.namespaceURI === namespaces.NS.SVG
  if (isDrawing && SVG_OPENED.has(name)) {
    for (const child of node.childNodes) write(child, parts, depth + 1)
    return
  }
  if (!isDrawing || !SVG_TAGS.has(name)) return
  if (name === 'style' && !isPlainCss(textOf(node))) return
  const attributes = attributesOf(node)
  if (attributes === null) return
  parts.push(`<${name}${depth === 0 ? ' xmlns="http://www.w3.org/2000/svg"' : ''}`)
  for (const [attribute, value] of attributes) parts.push(` ${attribute}="${escaped(value)}"`)
  if (node.childNodes.length === 0) {
    parts.push('/>')
    return
  }
  parts.push('>')
  for (const child of node.childNodes) write(child, parts, depth + 1)
  parts.push(`</${name}>`)
}

/** Returns the allowed attributes; null for an animation of a link. */
function attributesOf({ attrs }: Element): [name: string, value: string][] | null {
  const kept = new Map<string, string>()
  for (const { name, prefix, value } of attrs) {
    if (name === 'attributeName' && /href/i.test(value)) return null
    const isLink = name === 'href' && (prefix === undefined || prefix === 'xlink')
    if (isLink && /^#[\w:.-]+$/.test(value)) kept.set(name, value)
    else if (name === 'space' && prefix === 'xml') kept.set('xml:space', value)
    else if (!prefix && SVG_ATTRIBUTES.has(name) && refersInside(value)) kept.set(name, value)
  }
  return [...kept]
}

/** Functions of CSS that load something, or could one day. */
const LOADING =
  /\b(?:image|image-set|src|cross-fade|element|expression|paint|attr)\s*\(|binding|behavior/i

/** Whether a value of a property refers only to parts of the same drawing. */
function refersInside(value: string): boolean {
  if (value.includes('\\') || LOADING.test(value)) return false
  return !/\burl\s*\((?!\s*(?:"#[\w:.-]+"|'#[\w:.-]+'|#[\w:.-]+)\s*\))/i.test(value)
}

/** Whether a style sheet loads nothing: other files, fonts, images. */
function isPlainCss(css: string): boolean {
  const rules = css.match(/@[\w-]*/g) ?? []
  return refersInside(css) && rules.every(rule => /^@(?:media|(?:-webkit-)?keyframes)$/i.test(rule))
}

function textOf(node: Element): string {
  return node.childNodes
    .map(one => (one.nodeName === '#text' ? (one as DefaultTreeAdapterTypes.TextNode).value : ''))
    .join('')
}

function sizeOf({ attrs }: Element): Pick<CleanSvg, 'width' | 'height'> {
  const value = (name: string) => attrs.find(one => one.name === name)?.value ?? ''
  const pixels = (text: string) => {
    const number = /^\s*(\d{1,5}(?:\.\d+)?)(?:px)?\s*$/.exec(text)?.[1]
    return number === undefined ? null : Math.round(Number(number)) || null
  }
  const [, , width = '', height = ''] = value('viewBox')
    .trim()
    .split(/[\s,]+/)
  const [own, tall] = [pixels(value('width')), pixels(value('height'))]
  return own !== null && tall !== null
    ? { width: own, height: tall }
    : { width: pixels(width), height: pixels(height) }
}

/** Escapes text for XML, and removes characters that XML forbids. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
