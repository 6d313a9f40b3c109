import { cratePath } from '../../core/paths/crates.ts'
import type { CrateItem } from '../crate-data.ts'
import type { SiteConfig } from '../site-config.ts'
import type { Linker } from './links.ts'
import { html, type Markup, raw } from './markup.ts'

const NUMBER = new Intl.NumberFormat('en-US')
const DATE = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

/** A number as people write it: `20,000`. */
export function formatNumber(number: number): string {
  return NUMBER.format(number)
}

/** A size in bytes as people read it: `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const size = bytes / 1024 ** unit
  return `${size.toFixed(unit === 0 || size >= 10 ? 0 : 1)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`
}

/** `1 crate`, `2 crates`. */
export function plural(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? '' : 's'}`
}

/** A timestamp as a date: `2026-11-20T12:00:00Z` → `Nov 20, 2026`. */
export function formatDate(timestamp: string): string {
  // Without the time: Cargo allows a leap second, which `Date` does not know.
  return DATE.format(new Date(timestamp.slice(0, 10)))
}

/** A date. The file must not depend on when it was made, so a script says how long ago it was. */
export function timeTag(timestamp: string | null): Markup {
  if (timestamp === null) return html`<span class="quiet">unknown date</span>`
  return html`<time datetime="${timestamp}">${formatDate(timestamp)}</time>`
}

/** A time to the second, in UTC; no script changes it. */
export function exactTimeTag(timestamp: string): Markup {
  return html`<time class="exact" datetime="${timestamp}">${timestamp.replace('T', ' ').replace('Z', '')}</time>`
}

const PATHS = {
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/>',
  copy: '<rect x="5.5" y="5.5" width="9" height="9" rx="1.5"/><path d="M11 2.5H3A1.5 1.5 0 0 0 1.5 4v7.5"/>',
  download: '<path d="M8 1.5v9m-4-3.500 4 4 4-4M2 14.500h12"/>',
  file: '<path d="M3.500 1.500h6l3 3v10h-9z"/><path d="M9.500 1.500v3h3"/>',
  folder: '<path d="M1.500 3.500h5l1.500 2h6.500v8h-13z"/>',
} as const

/** A small drawing in the color of the text around it, hidden from screen readers. */
export function icon(name: keyof typeof PATHS): Markup {
  return raw(
    `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">${PATHS[name]}</svg>`,
  )
}

/** A message as markup; what stands between backticks becomes code. */
export function messageText(message: string): Markup {
  const parts = message.split('`')
  if (parts.length % 2 === 0) return html`${message}`
  return html`${parts.map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

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

/** How to make Cargo know a token. */
export function cargoLogin({ registry }: SiteConfig): Markup {
  const command = `cargo login --registry ${registry}`
  return html`<p>Run this and paste your token:</p>\n${copyBlock(command, 'cargo login command')}`
}

/** How to make Cargo know the registry and a token. */
export function cargoSetup(site: SiteConfig): Markup {
  return html`<p>Put this into <code>.cargo/config.toml</code> in your project or home folder:</p>
${cargoConfig(site)}
${cargoLogin(site)}`
}

/** A page of a list that takes several. */
export interface PagePosition {
  /** From 1. */
  readonly page: number
  readonly last: number
}

/** The links to the pages before and after; null for a list that fits on one. */
export function pager(
  { page, last }: PagePosition,
  address: (page: number) => string,
): Markup | null {
  if (last <= 1) return null
  const link = (number: number, text: string) => html`<a href="${address(number)}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">${page > 1 ? link(page - 1, '← Previous') : null}<span class="quiet">Page ${page} of ${last}</span>${page < last ? link(page + 1, 'Next →') : null}</nav>`
}

/** A list of crates: name, version, description, date. */
export function crateList(crates: readonly CrateItem[], to: Linker): Markup {
  return html`<ul class="cards">
${crates.map(
  crate => html`<li><a class="card" href="${to(cratePath(crate.name))}">
<span class="card-name"><strong>${crate.name}</strong> <span class="quiet">${crate.newest}</span>${crate.yanked ? html` <span class="badge bad">yanked</span>` : null}</span>
${crate.about.description === null ? null : html`<span class="card-text">${crate.about.description}</span>`}
${crate.updatedAt === null ? null : html`<span class="card-date quiet">${timeTag(crate.updatedAt)}</span>`}
</a></li>
`,
)}</ul>`
}
