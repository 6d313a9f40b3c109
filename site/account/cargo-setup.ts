import { cargoConfig, cargoLogin } from '../elements/copy-block.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/** How to make Cargo know the registry and a token. */
export function cargoSetup(site: SiteConfig): Markup {
  return html`<p>Put this into <code>.cargo/config.toml</code> in your project or home folder:</p>
${cargoConfig(site)}
<p>Run this and paste your token:</p>
${cargoLogin(site)}`
}
