import { badgePath, cratePath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { absoluteLink } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

export interface BadgeData {
  readonly name: string
  readonly version: string
  readonly yanked: boolean
}

const HEIGHT = 20
const PADDING = 6

/** Renders the badge of a crate: its name and newest version, for READMEs and other sites. */
export function badge({ name, version, yanked }: BadgeData): Output {
  const text = yanked ? `${version} yanked` : `v${version}`
  const [left, right] = [widthOf(name), widthOf(text)]
  const split = left + 2 * PADDING
  const width = split + right + 2 * PADDING
  const label = `${name}: ${text}`
  // `textLength` makes the text fit in any font.
  const part = (x: number, length: number, shown: string) =>
    html`<text x="${x + PADDING}" y="14" textLength="${length}">${shown}</text>`
  return output(
    badgePath(name),
    html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${label}"><title>${label}</title><clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath><g clip-path="url(#r)"><path fill="#4a5560" d="M0 0h${split}v${HEIGHT}H0z"/><path fill="${yanked ? '#a8281e' : '#0b6b73'}" d="M${split} 0h${width - split}v${HEIGHT}H${split}z"/></g><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${part(0, left, name)}${part(split, right, text)}</g></svg>\n`,
  )
}

/** Returns the Markdown that shows the badge of a crate and links to its page. */
export function badgeMarkdown(site: SiteConfig, name: string): string {
  return `[![${name}](${absoluteLink(site, badgePath(name))})](${absoluteLink(site, cratePath(name))})`
}

/** Returns about the width of a text in Verdana at 11 pixels. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += NARROW.has(character) ? 4 : WIDE.has(character) ? 10 : 7
  return width
}

const NARROW = new Set('.-ijlftrI ')
const WIDE = new Set('mwMW')
