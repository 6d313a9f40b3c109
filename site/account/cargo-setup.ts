import { configBlock, copyBlock } from '../elements/install.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/** How Cargo gets to know the registry and the token. */
export function cargoSetup(site: SiteConfig): Markup {
  return html`<p>Put this into <code>.cargo/config.toml</code> of your project or home folder:</p>
${copyBlock(configBlock(site), 'registry configuration')}
<p>Then hand Cargo your token, for which it asks after this line:</p>
${copyBlock(`cargo login --registry ${site.registry}`, 'cargo login command')}`
}
