import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { exactTimeTag, messageText, termList } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, type Viewer } from './frame.ts'

/** Something that went wrong, or was done, and when it was or will be tried. */
export interface StatusRow {
  readonly what: string
  readonly crate?: string | null
  readonly version?: string | null
  readonly why: string
  readonly at?: string | null
  /** When work that waits is tried again. */
  readonly retryAt?: string | null
}

export interface StatusData {
  readonly viewer: Viewer
  readonly at: string
  /** Terms with their values, in which text between backticks is code. */
  readonly terms: readonly (readonly [term: string, value: string])[]
  readonly pending: readonly (readonly [work: string, count: string])[]
  /** Lists, each with its title, and what an empty one says. */
  readonly lists: readonly (readonly [title: string, rows: readonly StatusRow[], none: string])[]
}

/** Renders the report of `plimsoll status`. A link refreshes it, without a script. */
export function statusPage(site: SiteConfig, data: StatusData): string {
  const path = account.status
  const to = linker(site, null)
  const { pending } = data
  const terms = data.terms.map(([term, value]) => [term, messageText(value)] as const)
  const body = html`<p class="quiet">As of ${exactTimeTag(data.at)} UTC. <a href="${to(path)}">Refresh</a></p>
<section class="part"><h2>Registry</h2>${termList(terms)}</section>
<section class="part"><h2>Pending work</h2>${pending.length === 0 ? html`<p>Nothing is pending.</p>` : termList(pending)}</section>
${data.lists.map(
  ([
    title,
    rows,
    none,
  ]) => html`<section class="part"><h2>${title}</h2>${rows.length === 0 ? html`<p class="quiet">${none}</p>` : html`<ul class="rows">${rows.map(row => statusRow(row, to))}</ul>`}</section>
`,
)}`
  return accountPage(site, data.viewer, { path, title: 'Status', body })
}

function statusRow({ what, crate, version, why, at, retryAt }: StatusRow, to: Linker): Markup {
  const next = retryAt && html`next attempt ${exactTimeTag(retryAt)}`
  return html`<li><div class="row-head"><strong>${what}</strong>
${crate && html`<a href="${to(cratePath(crate))}">${crate}</a>`}
${crate && version && html`<a href="${to(versionPath(crate, version))}">${version}</a>`}
<span class="note">${at && exactTimeTag(at)}${at && next && ' · '}${next}</span></div>
<div class="row-more">${messageText(why)}</div></li>
`
}
