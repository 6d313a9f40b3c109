import { cargoSetup } from '../elements/elements.ts'
import { account, linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import {
  field,
  knownUser,
  type Notice,
  newPasswordFields,
  noticeBox,
  passwordField,
  postForm,
} from './frame.ts'

export interface LoginData {
  readonly csrf: string
  /** The username that was entered, or the user of the one-time link. */
  readonly login: string
  /** Path to go to after the login; the server checks that it is on this site. */
  readonly next: string | null
  readonly notice: Notice | null
  /** The secret of a one-time link that sets the password; null for an ordinary login. */
  readonly reset: string | null
  /** Where people can log in: the section of the issuer, and its title. */
  readonly issuers: readonly { readonly name: string; readonly title: string }[]
  readonly passwords: boolean
}

/** Renders the page where users log in, or set a password through a one-time link. */
export function loginPage(site: SiteConfig, data: LoginData): string {
  const { login, next, reset, issuers, passwords } = data
  // It is shown at any path that needs a login, so its links start at the root.
  const to = linker(site, null)
  const title = reset === null || !passwords ? 'Log in' : 'Set your password'
  const hidden = Object.entries({ next, reset }).map(([name, value]) =>
    value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const user = html`<input name="login" value="${login}" autocomplete="username" autocapitalize="off" required>`
  const fields =
    reset === null
      ? [field('Username', user), passwordField('Password', 'password', 'current-password')]
      : [knownUser(login), ...(passwords ? newPasswordFields() : [])]
  const button = html`<button class="button main">${title}</button>`
  const path = reset === null ? account.login : account.password
  const main = html`<div class="wide page narrow"><h1>${title}</h1>
${reset === null ? null : html`<p class="lead">For the account <strong>${login}</strong>.</p>`}
${noticeBox(data.notice)}
${reset === null && issuers.length > 0 ? html`<p class="actions">${issuers.map(({ name, title }) => html`<a class="button main" href="${to(account.oidc(name))}${next === null ? null : `?next=${encodeURIComponent(next)}`}">Log in with ${title}</a>`)}</p>` : null}
${reset === null && !passwords ? null : postForm(data, to(path), [hidden, fields, button])}
${
  reset !== null
    ? null
    : html`${passwords ? html`<p class="quiet">Administrators of this registry create accounts and reset passwords.</p>` : null}
<section class="part"><h2>Get a token</h2>
<p>Log in to create a token for Cargo, or ask an administrator of this registry for one.</p>
${cargoSetup(site)}</section>`
}
</div>`
  return layout(site, { path: null, title, main, search: !site.private, secret: reset !== null })
}
