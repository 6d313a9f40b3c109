import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { exactTimeTag } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, type Viewer } from './frame.ts'

/** One event of the audit log. */
export interface AuditRow {
  readonly at: string
  /** A username, `command line` or `unknown`. */
  readonly actor: string
  /** `publish`, `yank`, `token-create` … */
  readonly action: string
  readonly crate: string | null
  readonly version: string | null
  readonly detail: string | null
}

/** A page of the audit log, newest first. */
export interface AuditData {
  readonly viewer: Viewer
  readonly rows: readonly AuditRow[]
  readonly filter: string
  /** Query strings of the pages with older and newer rows (`?before=…`); null at the ends. */
  readonly older: string | null
  readonly newer: string | null
}

/** Renders a page of the audit log. */
export function auditPage(site: SiteConfig, data: AuditData): string {
  const { viewer, rows, filter, older, newer } = data
  const to = linker(site, null)
  const body = html`<form class="form row" method="get" action=""><label class="field"><span>Crate, user or action</span><input name="q" value="${filter}"></label><button class="button">Filter</button></form>
<p class="quiet">Newest first; times are in UTC.</p>
<ul class="rows">${rows.map(row => auditRow(row, to))}</ul>
${rows.length === 0 ? html`<p class="quiet">No events.</p>` : null}
<nav class="pager" aria-label="Pages">${newer === null ? null : html`<a href="${newer}">← Newer</a>`}${older === null ? null : html`<a href="${older}">Older →</a>`}</nav>`
  return accountPage(site, viewer, { path: account.audit, title: 'Audit log', body })
}

function auditRow({ at, actor, action, crate, version, detail }: AuditRow, to: Linker): Markup {
  const isUser = actor !== 'command line' && actor !== 'unknown'
  const user = html`<a href="${to(account.users)}?${new URLSearchParams({ q: actor }).toString()}">${actor}</a>`
  return html`<li><div class="row-head"><span class="note">${exactTimeTag(at)}</span> ${isUser ? user : actor} <strong>${action}</strong>
${crate === null ? null : html`<a href="${to(cratePath(crate))}">${crate}</a>`}
${crate === null || version === null ? null : html`<a href="${to(versionPath(crate, version))}">${version}</a>`}</div>
${detail === null ? null : html`<div class="row-more">${detail}</div>`}</li>
`
}
