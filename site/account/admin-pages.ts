import { plural } from '../elements/amount.ts'
import { copyBlock } from '../elements/install.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { type PagePosition, pager } from '../elements/pager.ts'
import { exactTimeTag, timeTag } from '../elements/time.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, field, postForm } from './form.ts'
import { accountPage } from './frame.ts'
import type { Notice, Viewer } from './viewer.ts'

/** A user, as an administrator sees one. */
export interface UserRow {
  readonly login: string
  readonly name: string | null
  readonly admin: boolean
  readonly disabled: boolean
  readonly created: string
  readonly lastSeen: string | null
  readonly crates: number
}

/** A user that somebody tried to add. */
export interface UserDraft {
  readonly login: string
  readonly admin: boolean
}

/** The list of users. */
export interface UsersData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  /** Those of one page, of those whose login has the filter in it. */
  readonly users: readonly UserRow[]
  readonly usersPosition: PagePosition
  readonly filter: string
  /** What was filled into the form to add one, when that was refused. */
  readonly draft: UserDraft | null
  /** A one-time link to set a password, just made: shown once. */
  readonly resetLink: { readonly login: string; readonly url: string } | null
}

/** One event of the audit log. */
export interface AuditRow {
  readonly at: string
  readonly actor: string
  /** What was done, in words (`publish`, `yank`, `token created`). */
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
  /** Link parts for older and newer rows (`?before=…`); null at the ends. */
  readonly older: string | null
  readonly newer: string | null
}

/** Users: add, disable, reset the password, make administrators. */
export function usersPage(site: SiteConfig, facts: UsersData): string {
  const { viewer } = facts
  const path = account.users
  const to = linker(site, null)
  const link = facts.resetLink
  const body = html`${link === null ? null : html`<section class="notice good" aria-label="One-time link"><p>Give this link to <strong>${link.login}</strong>. It sets a password, works once and is shown this once.</p>${copyBlock(link.url, 'one-time link')}</section>`}
${facts.usersPosition.last > 1 || facts.filter !== '' ? html`<form class="form row" method="get" action="${to(path)}"><label class="field"><span>Users whose login has</span><input name="q" value="${facts.filter}" autocapitalize="off"></label><button class="button">Filter</button></form>` : null}
<ul class="rows">${facts.users.map(user => userRow(viewer, user, to))}</ul>
${facts.users.length === 0 ? html`<p class="quiet">No users.</p>` : null}
${pager(facts.usersPosition, number => `${to(path)}?${new URLSearchParams({ q: facts.filter, page: String(number) })}`)}
<section class="part"><h2>Add a user</h2>
${postForm(viewer, to(account.addUser), html`${field('Login', html`<input name="login" value="${facts.draft?.login}" autocapitalize="off" required maxlength="64">`)}<label class="choice"><input type="checkbox" name="admin" value="1"${facts.draft?.admin ? html` checked` : null}> Administrator</label><button class="button main">Add</button>`)}
</section>`
  return accountPage(site, viewer, { path, title: 'Users', notice: facts.notice, body })
}

function userRow(viewer: Viewer, user: UserRow, to: Linker): Markup {
  const { login } = user
  const act = (action: Parameters<typeof account.user>[1], text: string) =>
    buttonForm(viewer, to(account.user(login, action)), text, {}, `${text}: ${login}`)
  // Nobody locks himself out by a slip of the mouse.
  const others =
    login === viewer.login
      ? null
      : html`${user.disabled ? act('enable', 'Enable') : act('disable', 'Disable')}${user.admin ? act('demote', 'No administrator') : act('promote', 'Make administrator')}`
  return html`<li class="row-with-action"><div><div class="row-head"><strong>${login}</strong>${user.name === null ? null : html` <span class="quiet">${user.name}</span>`}${user.admin ? html` <span class="badge">administrator</span>` : null}${user.disabled ? html` <span class="badge bad">disabled</span>` : null}</div>
<div class="row-more">since ${timeTag(user.created)} · ${user.lastSeen === null ? 'never seen' : html`last seen ${timeTag(user.lastSeen)}`} · ${plural(user.crates, 'crate')}</div></div>
<div class="actions">${act('reset', 'Reset password')}${others}</div></li>
`
}

/** The audit log. */
export function auditPage(site: SiteConfig, facts: AuditData): string {
  const path = account.audit
  const body = html`<form class="form row" method="get" action=""><label class="field"><span>Crate, user or action</span><input name="q" value="${facts.filter}"></label><button class="button">Filter</button></form>
<div class="scroll" role="region" aria-label="Events" tabindex="0"><table class="versions">
<thead><tr><th scope="col">Time, UTC</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Crate</th><th scope="col">Detail</th></tr></thead>
<tbody>${facts.rows.map(
    row =>
      html`<tr><td>${exactTimeTag(row.at)}</td><td>${row.actor}</td><td>${row.action}</td><td>${row.crate ?? '–'} ${row.version}</td><td>${row.detail ?? '–'}</td></tr>\n`,
  )}</tbody></table></div>
${facts.rows.length === 0 ? html`<p class="quiet">No events.</p>` : null}
<nav class="pager" aria-label="Pages">${facts.newer === null ? null : html`<a href="${facts.newer}">← Newer</a>`}${facts.older === null ? null : html`<a href="${facts.older}">Older →</a>`}</nav>`
  return accountPage(site, facts.viewer, { path, title: 'Audit log', notice: null, body })
}
