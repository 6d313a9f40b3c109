import type { SiteConfig } from '../site-config.ts'
import { icon } from './icon.ts'
import { html, type Markup } from './markup.ts'

/** Commands or settings to copy. The block scrolls sideways, so the keyboard must reach it. */
export function copyBlock(text: string, label: string): Markup {
  return html`<div class="copy-block"><pre tabindex="0"><code>${text}</code></pre>${copyButton(label)}</div>`
}

/** A button that copies the text of the element before it; a script shows it. */
export function copyButton(label: string): Markup {
  return html`<button type="button" class="copy" data-copy hidden aria-label="Copy ${label}">${icon('copy')}</button>`
}

/** The settings that make Cargo know this registry. */
export function cargoConfig(site: SiteConfig): Markup {
  const block = `[registries.${site.registry}]\nindex = "${site.index}"`
  // Without a credential provider, Cargo sends no token to a private registry.
  const provider = site.private ? '\ncredential-provider = "cargo:token"' : ''
  return copyBlock(block + provider, 'registry configuration')
}

/** The command that stores a token for this registry. */
export function cargoLogin(site: SiteConfig): Markup {
  return copyBlock(`cargo login --registry ${site.registry}`, 'cargo login command')
}

/** How to make Cargo know the registry and a token. */
export function cargoSetup(site: SiteConfig): Markup {
  return html`<p>Put this into <code>.cargo/config.toml</code> in your project or home folder:</p>
${cargoConfig(site)}
<p>Run this and paste your token:</p>
${cargoLogin(site)}`
}
