import type { Linker } from '../address.ts'
import type { Markup } from '../markup.ts'
import { html } from '../markup.ts'
import type { SiteFacts } from '../site-facts.ts'
import type { VersionFacts } from '../version-facts.ts'

/** The README of a version, or what stands in for it. */
export function readmeSection(_site: SiteFacts, version: VersionFacts, _to: Linker): Markup {
  if (version.readme === null) return html`<p class="quiet">This version has no README.</p>`
  return html`<div class="readme"><pre>${version.readme.text}</pre></div>`
}
