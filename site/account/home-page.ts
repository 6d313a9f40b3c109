import { cratePath } from '../../core/paths/crates.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { type PagePosition, pager } from '../elements/pager.ts'
import { timeTag } from '../elements/time.ts'
import type { SiteConfig } from '../site-config.ts'
import { cargoSetup } from './cargo-setup.ts'
import { buttonForm, field, postForm } from './form.ts'
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

/** A place where a user is logged in. */
export interface Session {
  readonly id: string | number
  readonly created: string
  readonly lastSeen: string
  /** What the browser called itself. */
  readonly agent: string
  readonly current: boolean
}

/** Everything on `/me`. */
export interface HomeData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  /** The text of a token that has just been made. */
  readonly newToken: string | null
  /** A token form that was refused. */
  readonly draft: TokenDraft | null
  readonly tokens: readonly TokenRow[]
  /** Those of one page. */
  readonly crates: readonly string[]
  readonly cratesPosition: PagePosition
  readonly invitations: readonly Invitation[]
  readonly sessions: readonly Session[]
  /** False when passwords are kept elsewhere. */
  readonly password: boolean
}

/** `/me`: tokens, crates, invitations, sessions, password. */
export function homePage(site: SiteConfig, facts: HomeData): string {
  const { viewer } = facts
  const path = account.home
  const to = linker(site, null)
  const body = html`${facts.newToken === null ? null : newToken(site, facts.newToken)}
${facts.invitations.length === 0 ? null : html`<section class="part"><h2>Invitations</h2>${invitationList(viewer, facts.invitations, to)}</section>`}
<section class="part"><h2>Tokens</h2>${tokenList(viewer, facts.tokens, to)}
<details class="more"${facts.draft !== null || facts.tokens.length === 0 ? html` open` : null}><summary>Make a token</summary>${tokenForm(viewer, facts.draft, to)}</details></section>
<section class="part"><h2 id="crates">Your crates</h2>${crateList(facts.crates, to)}
${pager(facts.cratesPosition, number => `${to(path)}?page=${number}#crates`)}</section>
<section class="part"><h2>Cargo</h2>${cargoSetup(site)}</section>
<section class="part"><h2>Sessions</h2>${sessionList(viewer, facts.sessions, to)}</section>
${facts.password ? html`<section class="part"><h2>Password</h2>${passwordForm(viewer, to)}</section>` : null}`
  return accountPage(site, viewer, { path, title: viewer.login, notice: facts.notice, body })
}

function invitationList(viewer: Viewer, invitations: readonly Invitation[], to: Linker): Markup {
  return html`<ul class="rows">${invitations.map(
    one => html`<li class="row-with-action"><div>${one.by} invites you to own <a href="${to(cratePath(one.crate))}">${one.crate}</a> <span class="quiet">${timeTag(one.at)} · expires ${timeTag(one.expires)}</span></div>
<div class="actions">${buttonForm(viewer, to(account.acceptInvitation(one.crate)), 'Accept', {}, `Accept ${one.crate}`)}${buttonForm(viewer, to(account.declineInvitation(one.crate)), 'Decline', {}, `Decline ${one.crate}`)}</div></li>
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
  return html`<ul class="rows">${sessions.map(
    session => html`<li class="row-with-action"><div><div class="row-head">${session.agent}${session.current ? html` <span class="badge good">this one</span>` : null}</div>
<div class="row-more">since ${timeTag(session.created)} · last seen ${timeTag(session.lastSeen)}</div></div>
${session.current ? null : buttonForm(viewer, to(account.endSession(session.id)), 'End', {}, `End the session of ${session.agent}`)}</li>
`,
  )}</ul>${sessions.some(session => !session.current) ? buttonForm(viewer, to(account.endOtherSessions), 'End all other sessions') : null}`
}

function passwordForm(viewer: Viewer, to: Linker): Markup {
  return postForm(
    viewer,
    to(account.password),
    html`<input type="text" name="login" value="${viewer.login}" autocomplete="username" hidden>
${field('Current password', html`<input type="password" name="current" autocomplete="current-password" required>`)}
${field('New password', html`<input type="password" name="password" autocomplete="new-password" required>`)}
<button class="button">Change password</button>`,
  )
}
