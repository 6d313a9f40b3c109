import { cratePath } from '../../core/paths/crates.ts'
import { dateText } from '../../core/quantity.ts'
import { after, timestamp } from '../../core/timestamp.ts'
import {
  cargoLogin,
  cargoSetup,
  copyBlock,
  dateTag,
  type PagePosition,
  pager,
  timeTag,
} from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import {
  accountPage,
  askLink,
  buttonForm,
  field,
  knownUser,
  type Notice,
  newPasswordFields,
  passwordField,
  postForm,
  type Viewer,
} from './frame.ts'

export interface Invitation {
  readonly crate: string
  readonly by: string
  readonly at: string
  readonly expires: string
}

interface Session {
  readonly id: string | number
  readonly created: string
  readonly lastSeen: string
  /** Name of the browser, from its `User-Agent`. */
  readonly agent: string
  readonly current: boolean
}

export interface HomeData {
  readonly viewer: Viewer
  readonly now: Date
  readonly notice: Notice | null
  readonly newToken: Readonly<Record<'name' | 'token', string> & { expires: string | null }> | null
  readonly draft: TokenDraft | null
  readonly tokens: readonly TokenRow[]
  /** The crates on the current page. */
  readonly crates: readonly { readonly name: string; readonly through: string | null }[]
  readonly cratesPosition: PagePosition
  readonly invitations: readonly Invitation[]
  readonly sessions: readonly Session[]
  /** Whether the user can change a password. */
  readonly password: boolean
  readonly issuers: readonly IssuerRow[]
  /** Their groups, as they are written. */
  readonly groups: readonly string[]
}

/** An issuer where people log in; `loggedIn` is null if the account is not linked to it. */
export interface IssuerRow {
  readonly name: string
  readonly title: string
  readonly loggedIn: string | null
  /** Until when tokens and sessions answer; null for ever. */
  readonly until: string | null
}

/** Renders `/me`: tokens, crates, invitations, sessions, password. */
export function homePage(site: SiteConfig, data: HomeData): string {
  const { viewer, invitations, draft, tokens } = data
  const path = account.home
  const to = linker(site, null)
  const body = html`${data.newToken === null ? null : newToken(site, data.newToken)}
${invitations.length === 0 ? null : html`<section class="part"><h2>Invitations</h2>${invitationList(viewer, invitations, to)}</section>`}
<section class="part"><h2>API tokens</h2>
<p>Cargo on this machine needs a token. This one does all that you may do, for 12 hours.</p>
<p>${buttonForm(viewer, to(account.tokens), 'Get a token for this machine', { name: 'this machine', access: 'full', expires: '12h' })}</p>
${tokenList(data, to)}
<details class="more"${draft !== null || tokens.length === 0 ? html` open` : null}><summary>Create a token</summary>${tokenForm(data, draft ?? FIRST_DRAFT, to)}</details></section>
<section class="part"><h2 id="crates">Your crates</h2>${crateList(data.crates, to)}
${pager(data.cratesPosition, number => `${to(path)}?page=${number}#crates`)}</section>
<section class="part"><h2>Set up Cargo</h2>${cargoSetup(site)}</section>
<section class="part"><h2>Sessions</h2>${sessionList(data.sessions, to)}</section>
${data.issuers.length === 0 ? null : html`<section class="part"><h2>Company account</h2>${issuerList(data, to)}</section>`}
${data.password ? html`<section class="part"><h2>Password</h2>${passwordForm(viewer, to)}</section>` : null}`
  return accountPage(site, viewer, { path, title: viewer.login, notice: data.notice, body })
}

function invitationList(viewer: Viewer, invitations: readonly Invitation[], to: Linker): Markup {
  const accept = (crate: string) =>
    buttonForm(viewer, to(account.invitation(crate, 'accept')), 'Accept', {
      label: `Accept ${crate}`,
    })
  const row = ({ crate, by, at, expires }: Invitation) =>
    html`<li class="row-with-action"><div>${by} invites you to own <a href="${to(cratePath(crate))}">${crate}</a> <span class="quiet">${timeTag(at)} · expires ${dateTag(expires)}</span></div>
<div class="actions">${accept(crate)}${askLink(to(account.invitation(crate, 'decline')), 'Decline', `Decline ${crate}`)}</div></li>
`
  return html`<ul class="rows">${invitations.map(row)}</ul>`
}

function crateList(crates: HomeData['crates'], to: Linker): Markup {
  if (crates.length === 0) return html`<p class="quiet">You own no crates yet.</p>`
  return html`<ul class="rows">${crates.map(
    ({ name, through }) =>
      html`<li class="row-with-action"><span><a href="${to(cratePath(name))}">${name}</a>${through === null ? null : html` <span class="quiet">through ${through}</span>`}</span><a href="${to(account.crate(name))}" aria-label="Manage ${name}">Manage</a></li>\n`,
  )}</ul>`
}

function sessionList(sessions: readonly Session[], to: Linker): Markup {
  const end = ({ id, agent }: Session) =>
    askLink(to(account.endSession(id)), 'End', `End the session of ${agent}`)
  return html`<ul class="rows">${sessions.map(
    session => html`<li class="row-with-action"><div><div class="row-head">${session.agent}${session.current ? html` <span class="badge good">this session</span>` : null}</div>
<div class="row-more">created ${timeTag(session.created)} · last seen ${timeTag(session.lastSeen)}</div></div>
${session.current ? null : end(session)}</li>
`,
  )}</ul>${sessions.some(session => !session.current) ? html`<a class="button small" href="${to(account.endOtherSessions)}">End all other sessions</a>` : null}`
}

function issuerList({ issuers, groups }: HomeData, to: Linker): Markup {
  const row = ({ name, title, loggedIn, until }: IssuerRow) => {
    const link = (text: string, query = '') =>
      html`<a class="button small" href="${to(account.oidc(name))}${query}">${text}</a>`
    return loggedIn === null
      ? html`<li class="row-with-action"><div>${title} <span class="quiet">not linked; afterwards you log in there, and no longer with a password</span></div>${link(`Link ${title}`, '?link=1')}</li>`
      : html`<li class="row-with-action"><div>${title} <span class="quiet">last login ${timeTag(loggedIn)}${until === null ? null : html` · tokens and sessions answer until ${timeTag(until)}, then log in again`}</span></div>${link('Log in again')}</li>`
  }
  return html`<ul class="rows">${issuers.map(row)}</ul>${groups.length === 0 ? null : html`<p class="quiet">Your groups: ${groups.join(', ')}</p>`}`
}

function passwordForm(viewer: Viewer, to: Linker): Markup {
  return postForm(viewer, to(account.password), [
    knownUser(viewer.login),
    passwordField('Current password', 'current', 'current-password'),
    ...newPasswordFields(),
    html`<button class="button">Change password</button>`,
  ])
}

interface TokenRow {
  readonly id: string | number
  readonly name: string
  /** Null for a token that may do everything that its user may do. */
  readonly scopes: readonly string[] | null
  /** Crate patterns; null for a token that covers all crates. */
  readonly crates: readonly string[] | null
  readonly created: string
  readonly expires: string | null
  readonly last_used: string | null
}

interface TokenDraft {
  readonly name: string
  readonly access: string
  readonly scopes: readonly string[]
  readonly crates: string
  readonly expires: string
}

const SCOPES = [
  ['publish-new', 'publish new crates'],
  ['publish-update', 'publish new versions'],
  ['yank', 'yank and unyank'],
  ['change-owners', 'change owners'],
  ['read', 'read a private registry'],
] as const

const EXPIRIES = [
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', 'one year'],
  ['', 'never'],
] as const

function newToken(
  site: SiteConfig,
  { name, token, expires }: NonNullable<HomeData['newToken']>,
): Markup {
  return html`<section class="notice good" aria-label="New token"><p><strong>Copy the new token ${name} now.</strong> You will not see it again.${expires && html` It is good until ${dateText(expires)}.`}</p>
${copyBlock(token, 'token')}
${cargoLogin(site)}
</section>`
}

function tokenList({ tokens, now }: HomeData, to: Linker): Markup {
  if (tokens.length === 0) return html`<p class="quiet">You have no tokens yet.</p>`
  const row = ({ id, name, scopes, crates, created, expires, last_used: used }: TokenRow) => {
    const isExpired = expires !== null && expires <= timestamp(now)
    return html`<li class="row-with-action"><div><div class="row-head"><strong>${name}</strong>${isExpired && html` <span class="badge bad">expired</span>`}
<span class="note">${scopes?.join(', ') ?? 'full access'}${crates && html` · only <code>${crates.join(' ')}</code>`}</span></div>
<div class="row-more">created ${timeTag(created)} · ${used === null ? 'never used' : html`last used ${timeTag(used)}`} · ${expires === null ? 'never expires' : html`${isExpired ? 'expired' : 'expires'} ${dateTag(expires)}`}</div></div>
${askLink(to(account.revokeToken(id)), 'Revoke', `Revoke ${name}`)}</li>
`
  }
  return html`<ul class="rows">
${tokens.map(row)}</ul>`
}

/** What most tokens are for: a program that publishes new versions. */
const FIRST_DRAFT: TokenDraft = {
  name: '',
  access: 'limited',
  scopes: ['publish-update'],
  crates: '',
  expires: '90d',
}

function tokenForm({ viewer, now }: HomeData, draft: TokenDraft, to: Linker): Markup {
  const access = (value: string, text: string) =>
    html`<label class="choice"><input type="radio" name="access" value="${value}" required${draft.access === value ? html` checked` : null}> ${text}</label>`
  const scope = ([value, text]: (typeof SCOPES)[number]) =>
    html`<label class="choice"><input type="checkbox" name="scope" value="${value}"${draft.scopes.includes(value) ? html` checked` : null}> ${text} <code>${value}</code></label>`
  return postForm(
    viewer,
    to(account.tokens),
    html`${field('Name', html`<input name="name" value="${draft.name}" required maxlength="100" placeholder="laptop, CI of …">`)}
<fieldset class="field"><legend>Permissions</legend>
${access('full', 'Full access: everything you may do')}
${access('limited', 'Limited to:')}
<div class="scopes">${SCOPES.map(scope)}</div></fieldset>
${field('Crates', html`<input name="crates" value="${draft.crates}" placeholder="all">`, html`Names or prefixes (<code>team-*</code>), separated by spaces. A token for some crates cannot read a private registry.`)}
${field('Expires', html`<select name="expires">${EXPIRIES.map(([value, text]) => html`<option value="${value}"${value === draft.expires ? html` selected` : null}>${value === '' ? text : `until ${dateText(timestamp(after(now, value)))}, ${text}`}</option>`)}</select>`)}
<button class="button main">Create token</button>`,
  )
}
