import { counted } from '../../core/quantity.ts'
import { copyBlock, type PagePosition, pager, timeTag } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, askLink, field, type Notice, postForm, type Viewer } from './frame.ts'

export interface UserRow {
  readonly login: string
  readonly name: string | null
  readonly admin: boolean
  readonly locked: boolean
  readonly removed: boolean
  readonly created: string
  readonly lastSeen: string | null
  readonly crates: number
  readonly machine: boolean
  /** Whether tokens and sessions wait for a login at an issuer. */
  readonly login_due: boolean
  /** What still works that this user made, who can do nothing any more. */
  readonly made: readonly string[]
  readonly identities: readonly { readonly issuer: string; readonly logged_in: string | null }[]
}

export interface UsersData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  readonly users: readonly UserRow[]
  readonly usersPosition: PagePosition
  readonly filter: string
  /** The issuers to which accounts can be linked: their URLs, and the names of their sections. */
  readonly issuers: ReadonlyMap<string, string>
  readonly draft: { readonly login: string; readonly admin: boolean } | null
  readonly passwords: 'on' | 'off'
  /** A one-time link that leads in; it was just created and is shown only once. */
  readonly resetLink: { readonly login: string; readonly url: string } | null
}

/** Renders the list of users: add, lock, reset passwords, make administrators. */
export function usersPage(site: SiteConfig, data: UsersData): string {
  const { viewer, notice, users, usersPosition, filter, draft, resetLink } = data
  const path = account.users
  const to = linker(site, null)
  const queryOf = (page: number) => `?${new URLSearchParams({ q: filter, page: String(page) })}`
  const query = filter === '' && usersPosition.page === 1 ? '' : queryOf(usersPosition.page)
  const body = html`${resetLink === null ? null : html`<section class="notice good" aria-label="One-time link"><p>Give this link to <strong>${resetLink.login}</strong>. It ${data.passwords === 'on' ? 'sets a password' : 'logs them in'} and works once. You will not see it again.</p>${copyBlock(resetLink.url, 'one-time link')}</section>`}
<form class="form row" method="get" action="${to(path)}"><label class="field"><span>Username or name contains</span><input type="search" name="q" value="${filter}" autocapitalize="off"></label><button class="button">Search</button></form>
<ul class="rows">${users.map(user => userRow(data, user, to, query))}</ul>
${users.length === 0 ? html`<p class="quiet">${filter === '' ? 'No users.' : 'No username or name contains this.'}</p>` : null}
${pager(usersPosition, number => `${to(path)}${queryOf(number)}`)}
<section class="part"><h2>Add a user</h2>
${postForm(viewer, `${to(account.addUser)}${query}`, html`${field('Username', html`<input name="login" value="${draft?.login}" autocapitalize="off" required maxlength="39">`)}<label class="choice"><input type="checkbox" name="admin" value="1"${draft?.admin ? html` checked` : null}> Administrator</label><button class="button main">Add</button>`)}
</section>`
  return accountPage(site, viewer, { path, title: 'Users', notice, body })
}

function userRow(data: UsersData, user: UserRow, to: Linker, query: string): Markup {
  const { viewer, issuers, passwords } = data
  const { login, name, admin, locked, removed, machine, made, created, lastSeen, crates } = user
  const button = (action: Parameters<typeof account.user>[1], text: string) =>
    askLink(`${to(account.user(login, action))}${query}`, text, `${text}: ${login}`)
  // Administrators cannot lock themselves out by mistake.
  const others =
    login === viewer.login
      ? []
      : [
          locked ? button('unlock', 'Unlock') : button('lock', 'Lock'),
          admin ? button('demote', 'Revoke admin rights') : button('promote', 'Make administrator'),
        ]
  return html`<li class="row-with-action"><div><div class="row-head"><strong>${login}</strong>${name === null ? null : html` <span class="quiet">${name}</span>`}${admin ? html` <span class="badge">administrator</span>` : null}${locked ? html` <span class="badge bad">${removed ? 'removed' : 'locked'}</span>` : null}${machine ? html` <span class="badge">machine</span>` : null}${user.login_due ? html` <span class="badge bad">login due</span>` : null}</div>
<div class="row-more">created ${timeTag(created)} · ${lastSeen === null ? 'never seen' : html`last seen ${timeTag(lastSeen)}`} · ${counted(crates, 'crate')}${user.identities.map(({ issuer, logged_in: at }) => html` · ${issuers.get(issuer) ?? 'an issuer without a section'}: ${at === null ? 'no login yet' : html`last login ${timeTag(at)}`}`)}</div>
${made.length === 0 ? null : html`<div class="row-more">can do nothing any more, and has left behind: ${made.join(', ')}</div>`}
${removed || machine || issuers.size === 0 ? null : html`<details class="more"><summary>Link to an issuer</summary>${linkForm(data, to(account.user(login, 'link')), login)}</details>`}</div>
${removed ? null : html`<div class="actions">${machine ? null : button('reset', passwords === 'on' ? 'Reset password' : 'Login link')}${others}</div>`}</li>
`
}

/** Leads to the question, which posts its fields. */
function linkForm({ issuers, passwords }: UsersData, action: string, login: string): Markup {
  return html`<form class="form" method="get" action="${action}">${field('Issuer', html`<select name="issuer">${[...issuers.values()].map(name => html`<option>${name}</option>`)}</select>`)}
${field('Subject', html`<input name="subject" required maxlength="500" autocapitalize="off">`)}
${passwords === 'on' ? html`<label class="choice"><input type="checkbox" name="keep" value="1"> Keep the password</label>` : null}
<button class="button">Link ${login}</button></form>`
}
