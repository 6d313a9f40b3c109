import type { VersionData } from '../data/version.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { readme } from './readme.ts'

/** The README of a version, or what stands in for it. */
export function readmeSection(site: SiteConfig, version: VersionData): Markup {
  if (version.readme === null) return html`<p class="quiet">This version has no README.</p>`
  return readme(version.readme, version, site.images)
}
