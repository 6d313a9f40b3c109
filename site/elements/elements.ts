// site/elements: Pieces of HTML that pages share. All pages call it; no piece knows the page around
// it.
import { cratePath } from '../../core/paths/crates.ts'
import { counted, positionText } from '../../core/quantity.ts'
import { isolated } from '../../core/text.ts'
import type { CrateItem } from '../crate-data.ts'
import type { SiteConfig } from '../site-config.ts'
import type { Linker } from './links.ts'
import { type Child, html, type Markup, raw } from './markup.ts'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Returns the month of a timestamp: `Nov`. */
export function monthOf(timestamp: string): string {
  return MONTHS[Number(timestamp.slice(5, 7)) - 1] ?? ''
}

/** Formats a timestamp as a date: `2026-11-20T12:00:00Z` → `Nov 20, 2026`. */
export function formatDate(timestamp: string): string {
  // Some pages have hundreds, and `Intl` takes longer for each than for the rest of its line.
  return `${monthOf(timestamp)} ${Number(timestamp.slice(8, 10))}, ${timestamp.slice(0, 4)}`
}

/** Renders a date; null if unknown. A script shows its age, which a stored page cannot. */
export function timeTag(timestamp: string | null): Markup | null {
  return timestamp ? html`<time datetime="${timestamp}">${formatDate(timestamp)}</time>` : null
}

/** Renders a date that no script changes; null for an unknown one. */
export function dateTag(timestamp: string | null): Markup | null {
  return timestamp
    ? html`<time class="date" datetime="${timestamp}" title="${timestamp.replace('T', ' ').replace('Z', ' UTC')}">${formatDate(timestamp)}</time>`
    : null
}

/** Renders a time to the second, in UTC; no script changes it. */
export function exactTimeTag(timestamp: string): Markup {
  return html`<time class="exact" datetime="${timestamp}">${timestamp.replace('T', ' ').replace('Z', '')}</time>`
}

const PATHS = {
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/>',
  download: '<path d="M8 1.5v9m-4-3.500 4 4 4-4M2 14.500h12"/>',
  file: '<path d="M3.500 1.500h6l3 3v10h-9z"/><path d="M9.500 1.500v3h3"/>',
  code: '<path d="m5 4.500-3.500 3.500 3.500 3.500m6-7 3.500 3.500-3.500 3.500"/>',
  folder: '<path d="M1.500 3.500h5l1.500 2h6.500v8h-13z"/>',
} as const

/** Renders an icon in the color of the surrounding text, hidden from screen readers. */
export function icon(name: keyof typeof PATHS): Markup {
  return raw(
    `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${PATHS[name]}</svg>`,
  )
}

/** Cuts a text that its author may have made very long: browsers take seconds for one word. */
export function cut(text: string, most = 300): string {
  return text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/** Renders a message; text between backticks becomes code. */
export function messageText(message: string): Markup {
  const parts = message.split('`')
  if (parts.length % 2 === 0) return html`${message}`
  return html`${parts.map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

/** Renders commands or settings; a script adds a button. Long lines wrap, but not in an option. */
export function copyBlock(text: string, label: string): Markup {
  const options = text.split(/(--[a-z]+)/)
  const code = options.map((part, at) => (at % 2 === 0 ? part : html`<span>${part}</span>`))
  return html`<div class="copy-block" data-copy="${label}"><pre><code>${code}</code></pre></div>`
}

/** Renders what users paste into the configuration of Cargo. */
export function cargoConfig(site: SiteConfig): Markup {
  return copyBlock(site.cargoConfig.trimEnd(), 'registry configuration')
}

/** Explains how to give Cargo a token. */
export function cargoLogin({ registry }: SiteConfig): Markup {
  const command = `cargo login --registry ${registry}`
  return html`<p>Run this and paste your token:</p>\n${copyBlock(command, 'cargo login command')}`
}

/** Explains how to set up Cargo for this registry, with a token. */
export function cargoSetup(site: SiteConfig): Markup {
  return html`<p>Put this into <code>.cargo/config.toml</code> in your project or home folder:</p>
${cargoConfig(site)}
${cargoLogin(site)}`
}

/**
 * Renders a filter of the rows of an element, which only a script makes visible. `all` is the
 * address of the page with rows that are missing here; the filter loads them.
 */
export function filterBox(id: string, example: string, all: string | null = null): Markup {
  return html`<div class="filter" data-filter="${id}"${all && html` data-all="${all}"`} hidden><label>Filter <input type="search" autocomplete="off" placeholder="${example}"></label> <output></output></div>
`
}

/** A page above another one, with the text of its link; a text alone is the page itself. */
export type Step = readonly [path: string, text: string] | string

/** Renders the way to a page. */
export function trail(to: Linker, ...steps: readonly Step[]): Markup {
  return html`<nav class="trail" aria-label="Breadcrumb">${steps.map(step =>
    typeof step === 'string'
      ? html`<span>${step}</span>`
      : html`<a href="${to(step[0])}">${step[1]}</a>`,
  )}</nav>`
}

export interface PagePosition {
  /** Number of the page, from 1. */
  readonly page: number
  readonly last: number
}

/** Renders links to the previous and next page; null for a list that is shown as a whole. */
export function pager(
  { page, last }: PagePosition,
  address: (page: number) => string,
): Markup | null {
  if (last <= 1 && page === 1) return null
  const link = (number: number, text: string) => html`<a href="${address(number)}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">${page > 1 ? link(Math.min(page - 1, last) || 1, '← Previous') : null}<span class="quiet">${positionText(page, last)}</span>${page < last ? link(page + 1, 'Next →') : null}</nav>`
}

type Term = readonly [term: string, value: Child]

/** Renders terms with their values; leaves out those that are false. */
export function termList(rows: readonly (Term | false)[]): Markup {
  return html`<dl class="status">${rows.map(
    row => row && html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>\n`,
  )}</dl>`
}

/** Renders a list of crates: name, version, description, and one figure: the date, by default. */
export function crateList(
  crates: readonly CrateItem[],
  to: Linker,
  figure: (crate: CrateItem) => Markup | string | null = ({ updatedAt }) => timeTag(updatedAt),
): Markup {
  return html`<ul class="cards">
${crates.map(crate => {
  const shown = figure(crate)
  return html`<li><a class="card" href="${to(cratePath(crate.name))}">
<span class="card-name"><strong>${crate.name}</strong> <span class="quiet">${crate.newest}</span>${crate.yanked ? html` <span class="badge bad">yanked</span>` : null}${crate.deprecation && html` <span class="badge bad">deprecated</span>`}</span>
${crate.about.description === null ? null : html`<span class="card-text">${messageText(isolated(crate.about.description))}</span>`}
${shown === null ? null : html`<span class="card-date quiet">${shown}</span>`}
</a></li>
`
})}</ul>`
}

/** Renders the number of dependents of a crate in a list; null for none. */
export function crateDependents({ dependents = 0 }: CrateItem): string | null {
  return dependents === 0 ? null : counted(dependents, 'dependent')
}
