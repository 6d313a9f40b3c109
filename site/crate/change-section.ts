import { changesPath, compareFormPath } from '../../core/paths/crates.ts'
import type { CrateData, VersionData } from '../crate-data.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { changeList, countChanges, manifestChanges } from './changes.ts'
import { compareForm } from './compare-form.ts'

/** What the tab of the changes shows. */
export interface ChangeSection {
  /** Number of changes in the manifest; null if there is more to see, 0 if there is nothing. */
  readonly amount: number | null
  readonly body: Markup
}

/**
 * Renders what has changed since the previous version, and on the page of a crate, where a daemon
 * answers it, the form to compare any two of its versions.
 */
export function changeSection(
  site: SiteConfig,
  version: VersionData,
  crate: Pick<CrateData, 'versions'> | null,
  to: Linker,
): ChangeSection {
  const { name, previous, diff } = version
  const groups = previous === null ? [] : manifestChanges(site, previous, version)
  const amount = countChanges(groups)
  const numbers = crate?.versions.map(one => one.version) ?? []
  const hasForm = site.api && site.source && numbers.length > 1
  const list =
    amount === 0 ? html`<p>Nothing in the manifest, except the version.</p>` : changeList(groups)
  const files =
    diff === null
      ? null
      : html`<p><a href="${to(changesPath(name, version.version))}">Changed files and lines</a> <span class="quiet">${diff}</span></p>`
  const since =
    previous === null
      ? null
      : html`<p class="quiet">Since version ${previous.version}:</p>\n${files}${list}`
  const form = hasForm
    ? html`<h3>Compare any two versions</h3>
${compareForm(to(compareFormPath(name)), numbers, numbers[1] ?? '', numbers[0] ?? '')}`
    : null
  const hasMore = diff !== null || hasForm
  return { amount: amount === 0 && hasMore ? null : amount, body: html`${since}${form}` }
}
