// site/readme: From the Markdown of strangers to safe HTML. The sandbox and browsers call it; it
// never fetches an image.
import { html } from '../elements/markup.ts'
import { TooComplexError } from './bounded-tree.ts'
import { type ImageOptions, type PackagedImages, packagedFile } from './images.ts'
import { type LinkBase, linkBase, type ReadmePlace } from './links.ts'
import { markdown } from './markdown.ts'
import { sanitize } from './sanitize.ts'

export { packagedFile }

export interface PackagedReadme extends Pick<ImageOptions, 'images'> {
  readonly text: string
  /** Its file extension tells whether it is Markdown; its links are relative to its folder. */
  readonly about: ReadmePlace
  /** The images that this site serves; none by default. */
  readonly packaged?: PackagedImages
}

export interface RenderedReadme {
  readonly html: string
  readonly images: readonly string[]
}

/** A link base in which no relative link leads anywhere. */
const NOWHERE: LinkBase = { pages: '', bytes: '', folder: '' }

/** Maximum length of a README's HTML; more must be an attack or a mistake. */
const HTML_MAX = 4 * 1024 * 1024

const MARKDOWN = /(^|\/)[^./]*$|\.(md|markdown|mdown|mdwn|mkd|mkdn|mkdown)$/i

/**
 * Renders a README as sanitized HTML: as Markdown or plain text, depending on its file extension.
 * Its cost has only rough limits, so call it where it can be stopped. `inside` returns the page of
 * this site to which a relative link leads, if there is one.
 */
export function renderReadme(
  { text, about, images, packaged = new Map() }: PackagedReadme,
  inside?: LinkBase['inside'],
): RenderedReadme {
  const file = about.readme_file ?? ''
  if (!MARKDOWN.test(file)) return { html: plainReadme(text, null), images: [] }
  try {
    const content = markdown(text.replace(/^\ufeff/, ''))
    if (content.length > HTML_MAX) throw new TooComplexError('its HTML grows too long')
    const folder = file.slice(0, file.lastIndexOf('/') + 1)
    const place = linkBase(about)
    const base = inside ? { ...(place ?? NOWHERE), inside } : place
    const clean = sanitize(content, { base, folder, images, packaged })
    return { ...clean, html: `<div class="readme">${clean.html}</div>` }
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error
    return { html: plainReadme(text, error.message), images: [] }
  }
}

/** A part of a plain text, which ends with a line unless that is very long. */
const PART = /.{1,5000}(?:\n|$)|.{1,5000}/gsu

/** Renders a README as plain text; `because` is a clause that says why it is no HTML. */
export function plainReadme(text: string, because: string | null): string {
  const notice =
    because && html`<p class="notice">This README is shown as plain text because ${because}.</p>`
  // Browsers lay out only the parts that are seen.
  const parts = text.match(PART) ?? []
  const content = html`<pre class="plain-text" tabindex="0">${parts.length < 2 ? text : parts.map(part => html`<code>${part}</code>`)}</pre>`
  return html`${notice}<div class="readme">${content}</div>`.toString()
}
