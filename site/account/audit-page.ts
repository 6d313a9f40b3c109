import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { exactTimeTag } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, field, type Viewer } from './frame.ts'

export interface AuditRow {
  readonly at: string
  /** A username, `command line` or `unknown`. */
  readonly actor: string
  /** `publish`, `yank`, `token-create` … */
  readonly action: string
  readonly crate: string | null
  readonly version: string | null
  /** Username of the account that the event is about. */
  readonly user: string | null
  readonly detail: string | null
}

export type AuditConditions = Readonly<Record<'user' | 'crate' | 'action', string>>

export interface AuditData {
  readonly viewer: Viewer
  readonly rows: readonly AuditRow[]
  readonly conditions: AuditConditions
  readonly actions: readonly string[]
  /** Query strings of the pages with older and newer rows (`?before=…`); null at the ends. */
  readonly older: string | null
  readonly newer: string | null
}

/** Renders a page of the audit log. */
export function auditPage(site: SiteConfig, data: AuditData): string {
  const { viewer, rows, conditions, actions, older, newer } = data
  const to = linker(site, null)
  const option = (action: string) =>
    html`<option value="${action}"${action === conditions.action ? html` selected` : null}>${actionText(action)}</option>`
  const isFiltered = Object.values(conditions).some(condition => condition !== '')
  const body = html`<form class="form row" method="get" action="${to(account.audit)}">
${field('By user', html`<input name="user" value="${conditions.user}" autocapitalize="off">`)}
${field('Crate', html`<input name="crate" value="${conditions.crate}" autocapitalize="off">`)}
${field('Action', html`<select name="action"><option value="">all</option>${actions.map(option)}</select>`)}
<button class="button">Filter</button>${isFiltered ? html`<a href="${to(account.audit)}">Show all</a>` : null}</form>
<p class="quiet">Newest first; times are in UTC.</p>
<ul class="rows">${rows.map(row => auditRow(row, to))}</ul>
${rows.length === 0 ? html`<p class="quiet">No events.</p>` : null}
<nav class="pager" aria-label="Pages">${newer === null ? null : html`<a href="${newer}">← Newer</a>`}${older === null ? null : html`<a href="${older}">Older →</a>`}</nav>`
  return accountPage(site, viewer, { path: account.audit, title: 'Audit log', body })
}

function auditRow(row: AuditRow, to: Linker): Markup {
  const { at, actor, action, crate, version, user, detail } = row
  const isUser = actor !== 'command line' && actor !== 'unknown'
  return html`<li><div class="row-head"><span class="note">${exactTimeTag(at)}</span> ${isUser ? userLink(actor, to) : actor} <strong>${actionText(action)}</strong>
${crate === null ? null : html`<a href="${to(cratePath(crate))}">${crate}</a>`}
${crate === null || version === null ? null : html`<a href="${to(versionPath(crate, version))}">${version}</a>`}
${user === null || (user === actor && crate === null) ? null : userLink(user, to)}</div>
${detail === null ? null : html`<div class="row-more">${detail}</div>`}</li>
`
}

/** Returns the action in words: `login-failed` is a failed login. */
function actionText(action: string): string {
  const [noun = '', verb = ''] = action.split('-')
  return ['failed', 'wrong'].includes(verb) ? `${verb} ${noun}` : action.replace('-', ' ')
}

function userLink(login: string, to: Linker): Markup {
  const query = new URLSearchParams({ q: login }).toString()
  return html`<a href="${to(account.users)}?${query}">${login}</a>`
}
