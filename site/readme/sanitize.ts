import { type DefaultTreeAdapterTypes, html as namespaces, parseFragment } from 'parse5'
import {
  ATTRIBUTES,
  CLASSES,
  DROPPED,
  GLOBAL_ATTRIBUTES,
  IDENTIFIED,
  TAGS,
  VOID,
} from './allowed.ts'
import { boundedTree, ELEMENTS_MAX, TooComplexError } from './bounded-tree.ts'
import { type ImageOptions, ReadmeImages } from './images.ts'
import { LeftOut } from './left-out.ts'
import { safeId, safeLink } from './links.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element
/** Attributes in the README, with any names. */
type SourceAttributes = ReadonlyMap<string, string>
/** Attributes in the output, with allowed names only. */
type Attributes = Record<string, string>

export interface SafeReadme {
  readonly html: string
  readonly images: readonly string[]
}

/** Maximum nesting depth: more than anyone writes, and browsers stay fast. */
const DEPTH_MAX = 100

const VALUE_MAX = 300

const OUTPUT_MAX = 4 * 1024 * 1024

/** Elements that an item may be in; screen readers announce a stray item wrongly. */
const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['li', ['ol', 'ul']],
  ['dt', ['dl', 'div']],
  ['dd', ['dl', 'div']],
])

/** Elements that are rendered such that the keyboard reaches them. */
const ACTIVE: ReadonlySet<string> = new Set(['details', 'pre', 'summary'])

const REL = 'nofollow noopener noreferrer'

/**
 * Sanitizes HTML; must be the last step. It parses the text as browsers do and renders it again:
 * only allowed elements and attributes, and escaped text, reach the output.
 * Throws `TooComplexError` if the HTML is too large.
 */
export function sanitize(html: string, options: ImageOptions): SafeReadme {
  const writer = new Writer(options)
  writer.nodes(parseFragment(html, { treeAdapter: boundedTree(ELEMENTS_MAX) }).childNodes, 0, false)
  return { html: writer.parts.join(''), images: [...writer.images.files] }
}

class Writer {
  readonly parts: string[] = []
  #length = 0
  readonly images: ReadmeImages
  readonly #base: ImageOptions['base']
  readonly #leftOut: LeftOut
  readonly #ids = new Set<string>()

  constructor(options: ImageOptions) {
    this.images = new ReadmeImages(options)
    this.#base = options.base
    this.#leftOut = new LeftOut(
      ({ attrs }) => this.images.show(attrs.find(({ name }) => name === 'src')?.value).isLeftOut,
    )
  }

  nodes(nodes: readonly Node[], depth: number, inLink: boolean, text = true): void {
    if (depth > DEPTH_MAX) return
    for (const [at, node] of nodes.entries()) {
      if (this.#leftOut.has(nodes, at)) continue
      if (node.nodeName === '#text' && text)
        this.#write(escaped((node as DefaultTreeAdapterTypes.TextNode).value))
      else if ('tagName' in node) this.#element(node, depth, inLink)
    }
  }

  #element(element: Element, depth: number, inLink: boolean): void {
    const name = element.tagName
    if (element.namespaceURI !== namespaces.NS.HTML) {
      // Drawings and formulas are removed, but an unclosed one contains the rest of the README.
      this.nodes(element.childNodes, depth + 1, inLink, false)
      return
    }
    if (DROPPED.has(name)) return
    const written = new Map(element.attrs.map(({ name, value }) => [name, value]))
    if (name === 'img') this.#image(written, inLink)
    else if (name === 'source') this.#source(written)
    else if (name === 'input') this.#checkbox(written)
    else this.#container(element, written, depth, inLink)
  }

  #write(text: string): void {
    this.#length += text.length
    if (this.#length > OUTPUT_MAX) throw new TooComplexError('its HTML grows too long')
    this.parts.push(text)
  }

  #container(element: Element, written: SourceAttributes, depth: number, inLink: boolean): void {
    const name = element.tagName
    const attributes = { ...this.#kept(name, written), ...this.#extra(name, written) }
    const isHead = name === 'summary' && element.parentNode?.nodeName === 'details'
    const active = isHead || name === 'a' ? element.childNodes.findIndex(isActive) : -1
    // A link without a target, in another link, around something active or around nothing keeps
    // only its text: nobody could tell what a click or a key is for.
    const isNamed = name !== 'a' || attributes['aria-label'] || !element.childNodes.every(isBlank)
    if (active >= 0 || !isNamed) delete attributes.href
    const link =
      name === 'a' && !inLink && (attributes.href !== undefined || attributes.id !== undefined)
    // Only what has a role may have a name.
    if (name === 'a' && attributes.href === undefined) delete attributes['aria-label']
    const stays = name === 'a' ? link : TAGS.has(name) && !isStray(element)
    const tag = demoted(name)
    if (stays) this.#open(tag, attributes)
    if (VOID.has(tag)) return
    // A summary, which folds the rest, ends before something active, and its links are text.
    const end = isHead && active >= 0 ? active : element.childNodes.length
    this.nodes(element.childNodes.slice(0, end), depth + 1, inLink || link || isHead)
    if (stays) this.#write(`</${tag}>`)
    this.nodes(element.childNodes.slice(end), depth + 1, inLink)
  }

  #open(tag: string, attributes: Attributes): void {
    this.#write(`<${tag}`)
    for (const [name, value] of Object.entries(attributes))
      this.#write(` ${name}="${escaped(value)}"`)
    this.#write('>')
  }

  /** Returns the allowed attributes, the id and the classes. */
  #kept(name: string, written: SourceAttributes): Attributes {
    const kept: Attributes = {}
    for (const attribute of [...GLOBAL_ATTRIBUTES, ...(ATTRIBUTES.get(name) ?? [])]) {
      const value = written.get(attribute)
      if (value !== undefined) kept[attribute] = value.slice(0, VALUE_MAX)
    }
    // `<a name>` is the old way to write an anchor.
    const named = written.get('id') ?? (name === 'a' ? written.get('name') : undefined)
    const id = IDENTIFIED.has(name) && named !== undefined ? safeId(named) : null
    if (id !== null && !this.#ids.has(id)) {
      this.#ids.add(id)
      kept.id = id
    }
    const wanted = (written.get('class') ?? '').split(/\s+/)
    const classes = wanted.filter(token => CLASSES.get(name)?.test(token))
    if (classes.length > 0) kept.class = classes.join(' ')
    return kept
  }

  /** Returns attributes of links, of lists, and of what the keyboard must be able to scroll. */
  #extra(name: string, written: SourceAttributes): Attributes {
    if (name === 'a') {
      const href = safeLink(written.get('href'), this.#base, 'pages')
      return href === null ? {} : { href, rel: REL }
    }
    if (name === 'pre') return { tabindex: '0' }
    // Its marks, indents and columns follow the script of its text.
    if (/^(?:ol|ul|table)$/.test(name) && !written.has('dir')) return { dir: 'auto' }
    if (name === 'div' && written.get('class') === 'scroll')
      return { tabindex: '0', role: 'region', 'aria-label': 'Table' }
    return {}
  }

  #image(written: SourceAttributes, inLink: boolean): void {
    const { src, image, url } = this.images.show(written.get('src'))
    const alt = (written.get('alt') ?? '').slice(0, VALUE_MAX)
    if (src !== null) {
      const kept = this.#kept('img', written)
      const isSized = kept.width !== undefined || kept.height !== undefined
      // The size lets browsers keep the room of an image before it is loaded.
      const size: Attributes =
        isSized || !image?.width || !image.height
          ? {}
          : { width: `${image.width}`, height: `${image.height}` }
      const how = { loading: 'lazy', referrerpolicy: 'no-referrer' }
      this.#open('img', { ...kept, ...size, src, alt, ...how })
      return
    }
    const text = alt.trim() === '' ? 'image' : alt
    if (url === null || inLink) this.#write(`<span class="image">${escaped(text)}</span>`)
    else this.#write(`<a class="image" href="${escaped(url)}" rel="${REL}">${escaped(text)}</a>`)
  }

  #source(written: SourceAttributes): void {
    const first = /^[^\s,]+/.exec((written.get('srcset') ?? '').trim())?.[0]
    const { src } = this.images.show(first)
    if (src === null) return
    this.#open('source', { ...this.#kept('source', written), srcset: src.replaceAll(',', '%2C') })
  }

  /** Renders the only input allowed: the disabled checkbox of a task list. */
  #checkbox(written: SourceAttributes): void {
    if (written.get('type')?.toLowerCase() !== 'checkbox') return
    const state: Attributes = written.has('checked')
      ? { 'aria-label': 'done', checked: '' }
      : { 'aria-label': 'open' }
    this.#open('input', { type: 'checkbox', disabled: '', ...state })
  }
}

/** Returns whether a node has something that takes the focus, besides links. */
function isActive(node: Node): boolean {
  if (!('tagName' in node)) return false
  const isScroll = node.attrs.some(({ name, value }) => name === 'class' && value === 'scroll')
  return isScroll || ACTIVE.has(node.tagName) || node.childNodes.some(isActive)
}

/** Returns whether a node has neither text nor images. */
function isBlank(node: Node): boolean {
  if (node.nodeName === '#text')
    return (node as DefaultTreeAdapterTypes.TextNode).value.trim() === ''
  return !('tagName' in node) || (node.tagName !== 'img' && node.childNodes.every(isBlank))
}

function isStray(element: Element): boolean {
  const lists = LISTS.get(element.tagName)
  return lists !== undefined && !lists.includes(element.parentNode?.nodeName ?? '')
}

/** Lowers a README's headings by one level, because the page has its own `h1`. */
function demoted(tag: string): string {
  return tag.replace(/^h([1-5])$/, (_, level) => `h${Number(level) + 1}`)
}

/** Escapes text for HTML and XML. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
