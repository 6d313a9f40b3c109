import type { PackagedReadme, VersionData } from '../data/version.ts'
import type { Markup } from '../elements/markup.ts'
import { html, raw } from '../elements/markup.ts'
import { markdown } from './markdown.ts'
import { linkBase } from './repository.ts'
import { sanitise } from './sanitise.ts'

/** A README is shown up to this many characters; the package has all of it. */
export const README_MAX = 256 * 1024

/** HTML of a README that grows beyond this is no text to read: it is shown as it was written. */
const HTML_MAX = 4 * 1024 * 1024

const MARKDOWN = /(^|\/)[^./]*$|\.(md|markdown|mdown|mdwn|mkd|mkdn|mkdown)$/i

/** What a README was rendered with; the pages of a crate and of its newest version show the same one. */
const rendered = new WeakMap<PackagedReadme, { readonly key: string; readonly markup: Markup }>()

/** A README as HTML: from Markdown by the extension of its file, otherwise the text as it is. */
export function readme(
  facts: PackagedReadme,
  origin: Pick<VersionData, 'repository' | 'pathInVcs'>,
  images: 'link' | 'load',
): Markup {
  const key = JSON.stringify([origin.repository, origin.pathInVcs, images])
  const known = rendered.get(facts)
  if (known?.key === key) return known.markup
  const markup = render(facts, origin, images)
  rendered.set(facts, { key, markup })
  return markup
}

function render(
  facts: PackagedReadme,
  origin: Pick<VersionData, 'repository' | 'pathInVcs'>,
  images: 'link' | 'load',
): Markup {
  const text = shortened(facts.text)
  const content = MARKDOWN.test(facts.path)
    ? fromMarkdown(text, facts, origin, images)
    : plainText(text)
  return html`<div class="readme">${content}</div>${text.length < facts.text.length ? html`<p class="notice">This README is too long to be shown whole; the package has all of it.</p>` : null}`
}

function fromMarkdown(
  text: string,
  facts: PackagedReadme,
  origin: Pick<VersionData, 'repository' | 'pathInVcs'>,
  images: 'link' | 'load',
): Markup {
  const content = markdown(text)
  if (content.length > HTML_MAX) return plainText(text)
  return raw(
    sanitise(content, { base: linkBase(origin.repository, origin.pathInVcs, facts.path), images }),
  )
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
