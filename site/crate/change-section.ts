import { comparePath } from '../../core/paths/crates.ts'
import type { VersionData } from '../crate-data.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { changeList, countChanges, manifestChanges } from './changes.ts'

export interface ChangeSection {
  /** Number of changes in the manifest; null if there is more to see, 0 if there is nothing. */
  readonly amount: number | null
  readonly body: Markup
}

/** Renders the changes since the previous version, and a link to the comparison of its files. */
export function changeSection(site: SiteConfig, version: VersionData, to: Linker): ChangeSection {
  const { name, previous } = version
  if (previous === null) return { amount: 0, body: html`` }
  const groups = manifestChanges(site, previous, version)
  const amount = countChanges(groups)
  const list =
    amount === 0 ? html`<p>Nothing in the manifest, except the version.</p>` : changeList(groups)
  const compared = `${to(comparePath(name))}#${previous.version}...${version.version}`
  const files = site.source ? html`<p><a href="${compared}">Changed files and lines</a></p>` : null
  const body = html`<p class="quiet">Since version ${previous.version}:</p>
${files}${list}`
  return { amount: amount === 0 && site.source ? null : amount, body }
}
