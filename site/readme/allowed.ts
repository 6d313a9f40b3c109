/** The accepted parts of a README: the list of crates.io without landmarks and active content. */

export const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const

/** Elements that are kept. Any other element is replaced by its content. */
export const TAGS: ReadonlySet<string> = new Set([
  ...HEADINGS,
  ...words(`a abbr b bdi bdo blockquote br caption center cite code col colgroup dd del details
    dfn div dl dt em figcaption figure hr i img input ins kbd li mark ol p picture pre q rp rt
    ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th
    thead time tr tt u ul var wbr`),
])

/** Elements that are removed with their content, which is not text for readers. */
export const DROPPED: ReadonlySet<string> = new Set(
  words(`script style template title textarea option select noscript noembed noframes iframe
    object embed applet xmp plaintext audio video canvas head`),
)

export const VOID: ReadonlySet<string> = new Set(words('br col hr img input source wbr'))

/** Attributes that every element keeps unchanged. */
export const GLOBAL_ATTRIBUTES: readonly string[] = ['align', 'dir', 'lang', 'title']

/** Attributes that are kept unchanged, by element. The sanitizer checks links, ids and classes. */
export const ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['aria-label']],
  ['col', ['span']],
  ['details', ['open']],
  ['img', ['height', 'width']],
  ['li', ['value']],
  ['ol', ['reversed', 'start', 'type']],
  ['source', ['media']],
  ['td', ['colspan', 'rowspan']],
  ['th', ['colspan', 'rowspan', 'scope']],
  ['time', ['datetime']],
])

export const IDENTIFIED: ReadonlySet<string> = new Set([...HEADINGS, 'a', 'li'])

/** The classes that this renderer creates and keeps, by element. */
export const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['a', /^footnote-backref$/],
  ['code', /^language-[a-z]+$/],
  ['div', /^(markdown-alert|markdown-alert-(note|tip|important|warning|caution)|scroll)$/],
  ['li', /^(footnote-item|task-item)$/],
  ['ol', /^footnotes-list$/],
  ['p', /^markdown-alert-title$/],
  ['section', /^footnotes$/],
  ['span', /^(hljs-[a-z_-]+|[a-z]+_{1,2})$/],
  ['sup', /^footnote-ref$/],
])

/** Splits a list of names. */
export function words(text: string): string[] {
  return text.split(/\s+/)
}
