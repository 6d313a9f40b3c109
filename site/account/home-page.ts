import { cratePath } from '../../core/paths/crates.ts'
import { cargoSetup } from '../elements/copy-block.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { type PagePosition, pager } from '../elements/pager.ts'
import { timeTag } from '../elements/time.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, passwordField, postForm } from './form.ts'
import { accountPage } from './frame.ts'
import { newToken, type TokenDraft, type TokenRow, tokenForm, tokenList } from './tokens.ts'
import type { Notice, Viewer } from './viewer.ts'

/** An invitation to own a crate. */
export interface Invitation {
  readonly crate: string
  readonly by: string
  readonly at: string
  readonly expires: string
}

/** A browser in which a user is logged in. */
export interface Session {
  readonly id: string | number
  readonly created: string
  readonly lastSeen: string
  /** Name of the browser. */
  readonly agent: string
  readonly current: boolean
}

/** Everything on `/me`. */
export interface HomeData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  /** A token that has just been created. */
  readonly newToken: string | null
  /** A token form that was refused. */
  readonly draft: TokenDraft | null
  readonly tokens: readonly TokenRow[]
  /** Those of one page. */
  readonly crates: readonly string[]
  readonly cratesPosition: PagePosition
  readonly invitations: readonly Invitation[]
  readonly sessions: readonly Session[]
}

/** `/me`: tokens, crates, invitations, sessions, password. */
export function homePage(site: SiteConfig, data: HomeData): string {
  const { viewer, invitations, draft, tokens } = data
  const path = account.home
  const to = linker(site, null)
  const body = html`${data.newToken === null ? null : newToken(site, data.newToken)}
${invitations.length === 0 ? null : html`<section class="part"><h2>Invitations</h2>${invitationList(viewer, invitations, to)}</section>`}
<section class="part"><h2>API tokens</h2>${tokenList(viewer, tokens, to)}
<details class="more"${draft !== null || tokens.length === 0 ? html` open` : null}><summary>Create a token</summary>${tokenForm(viewer, draft, to)}</details></section>
<section class="part"><h2 id="crates">Your crates</h2>${crateList(data.crates, to)}
${pager(data.cratesPosition, number => `${to(path)}?page=${number}#crates`)}</section>
<section class="part"><h2>Set up Cargo</h2>${cargoSetup(site)}</section>
<section class="part"><h2>Sessions</h2>${sessionList(viewer, data.sessions, to)}</section>
<section class="part"><h2>Password</h2>${passwordForm(viewer, to)}</section>`
  return accountPage(site, viewer, { path, title: viewer.login, notice: data.notice, body })
}

function invitationList(viewer: Viewer, invitations: readonly Invitation[], to: Linker): Markup {
  const button = (crate: string, text: string, path: string) =>
    buttonForm(viewer, to(path), text, { label: `${text} ${crate}` })
  return html`<ul class="rows">${invitations.map(
    ({
      crate,
      by,
      at,
      expires,
    }) => html`<li class="row-with-action"><div>${by} invites you to own <a href="${to(cratePath(crate))}">${crate}</a> <span class="quiet">${timeTag(at)} · expires ${timeTag(expires)}</span></div>
<div class="actions">${button(crate, 'Accept', account.acceptInvitation(crate))}${button(crate, 'Decline', account.declineInvitation(crate))}</div></li>
`,
  )}</ul>`
}

function crateList(crates: readonly string[], to: Linker): Markup {
  if (crates.length === 0) return html`<p class="quiet">You own no crates yet.</p>`
  return html`<ul class="rows">${crates.map(
    name =>
      html`<li class="row-with-action"><a href="${to(cratePath(name))}">${name}</a><a href="${to(account.crate(name))}" aria-label="Manage ${name}">Manage</a></li>\n`,
  )}</ul>`
}

function sessionList(viewer: Viewer, sessions: readonly Session[], to: Linker): Markup {
  const end = ({ id, agent }: Session) =>
    buttonForm(viewer, to(account.endSession(id)), 'End', { label: `End the session of ${agent}` })
  return html`<ul class="rows">${sessions.map(
    session => html`<li class="row-with-action"><div><div class="row-head">${session.agent}${session.current ? html` <span class="badge good">this session</span>` : null}</div>
<div class="row-more">created ${timeTag(session.created)} · last seen ${timeTag(session.lastSeen)}</div></div>
${session.current ? null : end(session)}</li>
`,
  )}</ul>${sessions.some(session => !session.current) ? buttonForm(viewer, to(account.endOtherSessions), 'End all other sessions') : null}`
}

function passwordForm(viewer: Viewer, to: Linker): Markup {
  return postForm(viewer, to(account.password), [
    html`<input type="text" name="login" value="${viewer.login}" autocomplete="username" hidden>`,
    passwordField('Current password', 'current', 'current-password'),
    passwordField('New password', 'password', 'new-password'),
    html`<button class="button">Change password</button>`,
  ])
}
