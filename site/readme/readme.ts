import { html, type Markup, raw } from '../elements/markup.ts'
import { TooComplexError } from './bounded-tree.ts'
import { linkBase } from './links.ts'
import { markdown } from './markdown.ts'
import { sanitize } from './sanitize.ts'

/** A README as it lies in the package, and what its links depend on. */
export interface PackagedReadme {
  readonly text: string
  /** Path inside the package; its extension says whether it is Markdown, its folder where links start. */
  readonly path: string
  readonly repository: string | null
  /** Folder of the package inside its repository. */
  readonly pathInVcs: string | null
  /** Whether images of other hosts are loaded, or shown as a link. */
  readonly images: 'link' | 'load'
}

/** A README is shown up to this many characters; the package has all of it. */
export const README_MAX = 256 * 1024

/** Markdown that becomes more HTML than this is no text to read. */
const HTML_MAX = 4 * 1024 * 1024

const MARKDOWN = /(^|\/)[^./]*$|\.(md|markdown|mdown|mdwn|mkd|mkdn|mkdown)$/i

/**
 * A README as sanitized HTML: from Markdown by the extension of its file, otherwise the text as it
 * is. Its cost is bounded, but only roughly: run it where it can be stopped.
 */
export function renderReadme(given: PackagedReadme): string {
  const text = shortened(given.text)
  if (!MARKDOWN.test(given.path)) return section(given.text, plainText(text), null)
  try {
    return section(given.text, fromMarkdown(text, given), null)
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error
    return plainReadme(given.text, error.message)
  }
}

/** A README as it was written, with a sentence that says why: `because` is a clause. */
export function plainReadme(text: string, because: string): string {
  return section(text, plainText(shortened(text)), because)
}

function fromMarkdown(text: string, given: PackagedReadme): Markup {
  const { repository, pathInVcs, path, images } = given
  const content = markdown(text)
  if (content.length > HTML_MAX) throw new TooComplexError('its HTML grows too long')
  return raw(sanitize(content, { base: linkBase(repository, pathInVcs, path), images }))
}

function section(text: string, content: Markup, plainBecause: string | null): string {
  const plain =
    plainBecause === null
      ? null
      : html`<p class="notice">This README is shown as plain text because ${plainBecause}.</p>`
  const cut =
    text.length <= README_MAX
      ? null
      : html`<p class="notice">This README is too long to be shown whole; the package has all of it.</p>`
  return html`${plain}<div class="readme">${content}</div>${cut}`.toString()
}

function plainText(text: string): Markup {
  return html`<pre class="plain-text" tabindex="0">${text}</pre>`
}

/** Cut at the end of a line, where there is one. */
function shortened(text: string): string {
  if (text.length <= README_MAX) return text
  const end = text.lastIndexOf('\n', README_MAX)
  return text.slice(0, end > 0 ? end : README_MAX)
}
