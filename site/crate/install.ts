import type { VersionData } from '../data/version.ts'
import { copyBlock } from '../elements/copy-block.ts'
import { html, join, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/**
 * The commands that add or install a version; null for a yanked one, which Cargo would refuse.
 * `pinned`: on the page of one version, the commands name that version.
 */
export function installSection(
  site: SiteConfig,
  version: VersionData,
  pinned: boolean,
): Markup | null {
  if (version.yanked) return null
  const { name, binaries } = version
  const registry = site.registry
  const release = version.version.replace(/\+.*$/, '')
  const lines: Markup[] = []
  if (version.library || binaries.length === 0) {
    const add = `cargo add ${name}${pinned ? `@=${version.version}` : ''} --registry ${registry}`
    const line = `${name} = { version = "${pinned ? '=' : ''}${release}", registry = "${registry}" }`
    lines.push(copyBlock(add, 'cargo add command'), copyBlock(line, 'Cargo.toml line'))
  }
  if (binaries.length > 0) {
    // Unlike `cargo add`, `cargo install` chooses no pre-release by itself.
    const chosen = pinned || release.includes('-') ? ` --version ${version.version}` : ''
    const install = `cargo install ${name}${chosen} --registry ${registry}`
    const programs = join(binaries.map(one => html`<code>${one}</code>`))
    lines.push(
      copyBlock(install, 'cargo install command'),
      html`<p class="quiet small">Installs ${programs}.</p>`,
    )
  }
  return html`<section class="install"><h2>Install</h2>
${lines}
</section>`
}
