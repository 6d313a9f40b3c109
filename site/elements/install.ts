import type { VersionData } from '../data/version.ts'
import type { SiteConfig } from '../site-config.ts'
import { icon } from './icon.ts'
import type { Markup } from './markup.ts'
import { html } from './markup.ts'

/** A line or block to copy; the button works once the script has run. */
export function copyBlock(text: string, label: string): Markup {
  return html`<div class="copy-block"><pre><code>${text}</code></pre>${copyButton(label)}</div>`
}

/** A button that copies the text of the element before it. */
export function copyButton(label: string): Markup {
  return html`<button type="button" class="copy" data-copy hidden aria-label="Copy ${label}">${icon('copy')}</button>`
}

/** The block that makes Cargo know this registry; without a provider Cargo sends no token to a private one. */
export function configBlock(site: SiteConfig): string {
  const block = `[registries.${site.registry}]\nindex = "${site.index}"`
  return site.private ? `${block}\ncredential-provider = "cargo:token"` : block
}

function isPrerelease(version: string): boolean {
  return version.replace(/\+.*$/, '').includes('-')
}

/** The commands that take a version into use; `pinned` when the reader chose it himself. */
export function installLines(
  site: SiteConfig,
  version: Pick<VersionData, 'name' | 'version' | 'binaries' | 'library'>,
  pinned: boolean,
): { label: string; text: string }[] {
  const { name } = version
  const lines: { label: string; text: string }[] = []
  if (version.binaries.length > 0) {
    // Unlike `cargo add`, `cargo install` finds no pre-release that it is not told of.
    const at = pinned || isPrerelease(version.version) ? ` --version ${version.version}` : ''
    lines.push({
      label: 'install command',
      text: `cargo install ${name}${at} --registry ${site.registry}`,
    })
  }
  if (version.library || version.binaries.length === 0) {
    const at = pinned ? `@=${version.version}` : ''
    lines.push({
      label: 'cargo add command',
      text: `cargo add ${name}${at} --registry ${site.registry}`,
    })
    const requirement = `${pinned ? '=' : ''}${version.version.replace(/\+.*$/, '')}`
    lines.push({
      label: 'Cargo.toml line',
      text: `${name} = { version = "${requirement}", registry = "${site.registry}" }`,
    })
  }
  return lines
}
