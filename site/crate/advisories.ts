import { type Advisory, labelOf } from '../../core/advisory/advisory.ts'
import { advisoryPath } from '../../core/paths/tree.ts'
import type { VersionData, VersionRow } from '../crate-data.ts'
import type { Linker } from '../elements/links.ts'
import { html, join, type Markup, raw } from '../elements/markup.ts'

/** The most advisories that a page names for a version; `crate.json` has all. */
export const ADVISORIES_SHOWN = 20

const isHole = ({ informational }: Advisory) => informational === null

/** Renders what a list of versions says of one; null for most. */
export function advisoryBadge({ advisories = [] }: Pick<VersionRow, 'advisories'>): Markup | null {
  if (advisories.length === 0) return null
  const [note] = advisories
  const ids = advisories.slice(0, ADVISORIES_SHOWN).map(({ id }) => id)
  const text = advisories.some(isHole) ? 'vulnerable' : note?.informational
  return html` <span class="badge bad" title="${ids.join(', ')}">${text}</span>`
}

/** Renders the advisories that cover a version; null for most. */
export function advisoryNotices(version: VersionData, to: Linker): Markup | null {
  const { advisories = [], advisoryTexts } = version
  if (advisories.length === 0) return null
  const more = advisories.length - ADVISORIES_SHOWN
  const notices = advisories
    .slice(0, ADVISORIES_SHOWN)
    .map(advisory => notice(advisory, advisoryTexts?.get(advisory.id), to))
  return html`\n${notices}${more > 0 ? html`<p class="notice bad" role="note">${more} more advisories cover this version; <code>crate.json</code> has them.</p>` : null}`
}

function notice(advisory: Advisory, text: string | undefined, to: Linker): Markup {
  const { id, title, informational, references, cvss } = advisory
  const [url = to(advisoryPath(id))] = references
  const severity = labelOf(advisory)
  const label = informational ?? severity
  const facts = factsOf(advisory)
  return html`<div class="notice${isHole(advisory) ? ' bad' : null}" role="note"><p><strong><a href="${url}" rel="nofollow noopener noreferrer">${id}</a></strong>${label && html` <span class="badge${isHole(advisory) ? ' bad' : null}">${label}</span>`} ${title}</p>
<p class="small">${join(facts, html`<br>`)}${cvss && html`<br><code>${cvss}</code>`}${cvss && severity === null && ' (CVSS 4 counts as high)'}</p>
${text && html`<details><summary>What it says</summary>${raw(text)}</details>`}</div>
`
}

function factsOf({ ranges, aliases, functions, arch, os }: Advisory): Markup[] {
  const fixed = ranges.flatMap(range =>
    range.fixed === null ? [] : range.fixed.replace(/-0$/, ''),
  )
  const codes = (title: string, words: readonly string[]) =>
    words.length === 0
      ? []
      : [html`${title}: ${join(words.map(word => html`<code>${word}</code>`))}`]
  return [
    fixed.length === 0 ? html`No version is patched.` : html`Patched in ${join(fixed)}`,
    ...(aliases.length === 0 ? [] : [html`Also known as ${join(aliases)}`]),
    ...codes('Functions', functions),
    ...codes('Platforms', [...arch, ...os]),
  ]
}
