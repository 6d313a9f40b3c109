import { type DefaultTreeAdapterTypes, html as namespaces, parseFragment } from 'parse5'
import { words } from './allowed.ts'
import { boundedTree } from './bounded-tree.ts'
import { escaped } from './sanitize.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

export interface CleanSvg {
  readonly svg: string
  readonly width: number | null
  readonly height: number | null
}

/** Maximum length of a shown drawing, in characters; the work of drawing grows only with it. */
const LENGTH_MAX = 256 * 1024

const DEPTH_MAX = 100

/** Elements that are kept. All others go with their content. */
const TAGS: ReadonlySet<string> = new Set(
  words(`svg g defs title desc switch path rect circle ellipse line polyline polygon text tspan
    linearGradient radialGradient stop clipPath animate animateTransform`),
)

/** Elements that go, but not their content. */
const OPENED: ReadonlySet<string> = new Set(['a'])

/**
 * Elements that draw others, as often as something refers to them, and style sheets, which do so
 * for many at once. Without them, a drawing would look wrong, so it is not shown.
 */
const REFERRING: ReadonlySet<string> = new Set(
  words('use symbol pattern mask marker filter style textPath mpath animateMotion'),
)

const ATTRIBUTES: ReadonlySet<string> = new Set(
  words(`accumulate additive alignment-baseline attributeName baseline-shift begin by calcMode
    clip-path clip-rule clipPathUnits color color-interpolation cx cy d display dominant-baseline
    dur dx dy end fill fill-opacity fill-rule font-family font-size font-stretch font-style
    font-variant font-weight from fr fx fy gradientTransform gradientUnits height id keySplines
    keyTimes lengthAdjust letter-spacing max min offset opacity paint-order pathLength points
    preserveAspectRatio r repeatCount repeatDur role rotate rx ry shape-rendering spreadMethod
    stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap
    stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style systemLanguage text-anchor
    text-decoration text-rendering textLength to transform transform-origin type values
    vector-effect viewBox visibility white-space width word-spacing writing-mode x x1 x2 y y1 y2`),
)

/** Attributes that may refer to a gradient or a clip of the same drawing. */
const PAINTS: ReadonlySet<string> = new Set(words('fill stroke clip-path'))

/** Their value, if it is one. */
const REFERENCE = /^\s*url\(\s*(["']?)#[\w:.-]+\1\s*\)\s*$/

/** The same in a style. */
const PAINT = /\b(?:fill|stroke)\s*:\s*url\(\s*(["']?)#[\w:.-]+\1\s*\)/g

/** Characters that XML forbids. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

/** Whether bytes look like an SVG: its root comes first, after anything XML allows before it. */
export function looksLikeSvg(text: string): boolean {
  const start = text.slice(0, 4096).replace(/^\uFEFF?\s*/, '')
  return /^(?:<\?xml|<!--|<!DOCTYPE\s+svg\b|<svg[\s>])/i.test(start) && /<svg[\s>]/i.test(text)
}

/**
 * Sanitizes an SVG: renders it again from the listed elements and attributes. The result has no
 * script and no link, and refers to nothing but its gradients and clips, which refer to nothing
 * themselves. Null if there is no drawing, or one that needs more, or is too long. Throws
 * `TooComplexError` if it has too many elements.
 */
export function cleanSvg(text: string): CleanSvg | null {
  if (text.length > LENGTH_MAX) return null
  const tree = parseFragment(text, { treeAdapter: boundedTree() })
  const root = tree.childNodes.find((node): node is Element => node.nodeName === 'svg')
  if (root === undefined) return null
  const parts: string[] = []
  return write(root, parts, 0, false)
    ? { svg: parts.join('').replaceAll(FORBIDDEN, ''), ...sizeOf(root) }
    : null
}

/** Writes a node and its content; returns false if the drawing cannot be shown. */
function write(node: Node, parts: string[], depth: number, isInClip: boolean): boolean {
  if (node.nodeName === '#text') {
    parts.push(escaped((node as DefaultTreeAdapterTypes.TextNode).value))
    return true
  }
  if (!('tagName' in node) || depth > DEPTH_MAX || node.namespaceURI !== namespaces.NS.SVG)
    return true
  const name = node.tagName
  if (REFERRING.has(name)) return false
  const inside = (isClip: boolean) =>
    node.childNodes.every(child => write(child, parts, depth + 1, isClip))
  if (OPENED.has(name)) return inside(isInClip)
  if (!TAGS.has(name)) return true
  const attributes = attributesOf(node, isInClip || name === 'clipPath')
  parts.push(`<${name}${depth === 0 ? ' xmlns="http://www.w3.org/2000/svg"' : ''}`)
  for (const [attribute, value] of attributes) parts.push(` ${attribute}="${escaped(value)}"`)
  parts.push('>')
  const isShown = inside(isInClip || name === 'clipPath')
  parts.push(`</${name}>`)
  return isShown
}

/** Returns the allowed attributes; clips, which may not refer to others, have no clips. */
function attributesOf({ attrs }: Element, isInClip: boolean): [name: string, value: string][] {
  return attrs.flatMap(({ name, prefix, value }): [string, string][] => {
    if (name === 'space' && prefix === 'xml') return [['xml:space', value]]
    if (prefix || !ATTRIBUTES.has(name) || (isInClip && name === 'clip-path')) return []
    const isReference = PAINTS.has(name) && REFERENCE.test(value)
    // Drawing programs write gradients into styles; a forbidden character could split a word.
    const rest = (name === 'style' ? value.replaceAll(PAINT, '') : value).replaceAll(FORBIDDEN, '')
    return isReference || !BAD.some(pattern => pattern.test(rest)) ? [[name, value]] : []
  })
}

/** Functions and properties of CSS that load, refer or run something, and escapes. */
const BAD = [
  /\\|--|binding|behavior/i,
  /\b(?:url|image|image-set|src|cross-fade|element|expression|paint|attr|var)\s*\(/i,
]

function sizeOf({ attrs }: Element): Pick<CleanSvg, 'width' | 'height'> {
  const value = (name: string) => attrs.find(attribute => attribute.name === name)?.value ?? ''
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
