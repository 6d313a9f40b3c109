import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import type { SiteConfig } from '../facts/site-config.ts'
import type { VersionFacts } from '../facts/version.ts'
import { readme } from './readme.ts'

/** The README of a version, or what stands in for it. */
export function readmeSection(site: SiteConfig, version: VersionFacts): Markup {
  if (version.readme === null) return html`<p class="quiet">This version has no README.</p>`
  return readme(version.readme, version, site.images)
}
