import { html, type Markup, raw } from '../elements/markup.ts'
import { TooComplexError } from './bounded-tree.ts'
import type { ImageOptions, PackagedImages } from './images.ts'
import { type LinkBase, linkBase, type ReadmePlace } from './links.ts'
import { markdown } from './markdown.ts'
import { sanitize } from './sanitize.ts'

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

const NONE: PackagedImages = new Map()

/** Maximum number of README characters that a page shows; the package has the whole text. */
export const README_MAX = 256 * 1024

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
export function renderReadme(readme: PackagedReadme, inside?: LinkBase['inside']): string {
  return renderWithImages(readme, inside).html
}

/** Does the same, and returns which images it has. */
export function renderWithImages(
  readme: PackagedReadme,
  inside?: LinkBase['inside'],
): RenderedReadme {
  const { text, about, images, packaged = NONE } = readme
  const file = about.readme_file ?? ''
  if (!MARKDOWN.test(file)) return { html: section(text, plainText(text), null), images: [] }
  try {
    const content = markdown(shortened(text))
    if (content.length > HTML_MAX) throw new TooComplexError('its HTML grows too long')
    const folder = file.slice(0, file.lastIndexOf('/') + 1)
    const place = linkBase(about)
    const base = inside ? { ...(place ?? NOWHERE), inside } : place
    const clean = sanitize(content, { base, folder, images, packaged })
    return { html: section(text, raw(clean.html), null), images: clean.images }
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error
    return { html: plainReadme(text, error.message), images: [] }
  }
}

/** Renders a README as plain text; `because` is a clause that completes "… because". */
export function plainReadme(text: string, because: string): string {
  return section(text, plainText(text), because)
}

function section(text: string, content: Markup, plainBecause: string | null): string {
  const plain =
    plainBecause === null
      ? null
      : html`<p class="notice">This README is shown as plain text because ${plainBecause}.</p>`
  const cut =
    text.length <= README_MAX
      ? null
      : html`<p class="notice">This README is too long to be shown in full; the package has all of it.</p>`
  return html`${plain}<div class="readme">${content}</div>${cut}`.toString()
}

function plainText(text: string): Markup {
  return html`<pre class="plain-text" tabindex="0">${shortened(text)}</pre>`
}

/** Shortens a text, at the end of a line if possible. */
function shortened(text: string): string {
  if (text.length <= README_MAX) return text
  const end = text.lastIndexOf('\n', README_MAX)
  return text.slice(0, end > 0 ? end : README_MAX)
}
