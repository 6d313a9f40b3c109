import { account, linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { cargoSetup } from './cargo-setup.ts'
import { field, noticeBox, postForm } from './form.ts'
import type { Notice } from './viewer.ts'

/** What the login page needs. */
export interface LoginData {
  readonly csrf: string
  /** The login that was tried, or whose link it is. */
  readonly login: string
  /** Path to go on to; the server checks that it is its own. */
  readonly next: string | null
  readonly notice: Notice | null
  /** A one-time link to set the first password: its secret; null for an ordinary login. */
  readonly reset: string | null
}

/** The page on which one logs in, or sets a password with a one-time link. */
export function loginPage(site: SiteConfig, facts: LoginData): string {
  // Answered wherever somebody has to log in first, so its links start at the root.
  const to = linker(site, null)
  const first = facts.reset !== null
  const title = first ? 'Set your password' : 'Log in'
  const secret = first
    ? field(
        'New password',
        html`<input type="password" name="password" autocomplete="new-password" required>`,
      )
    : field(
        'Password',
        html`<input type="password" name="password" autocomplete="current-password" required>`,
      )
  const hidden = Object.entries({ next: facts.next, reset: facts.reset }).map(([name, value]) =>
    value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const main = html`<div class="wide page narrow"><h1>${title}</h1>
${first ? html`<p class="lead">For the account <strong>${facts.login}</strong>.</p>` : null}
${noticeBox(facts.notice)}
${postForm(
  facts,
  to(first ? account.password : account.login),
  html`${hidden}
${first ? html`<input type="text" name="login" value="${facts.login}" autocomplete="username" hidden>` : field('Login', html`<input name="login" value="${facts.login}" autocomplete="username" autocapitalize="off" required>`)}
${secret}
<button class="button main">${title}</button>`,
)}
${
  first
    ? null
    : html`<p class="quiet">Administrators of the registry make accounts and reset passwords.</p>
<section class="part"><h2>Getting a token</h2>
<p>Log in to make a token for Cargo, or ask whoever runs the registry for one.</p>
${cargoSetup(site)}</section>`
}
</div>`
  return layout(site, {
    path: null,
    title,
    description: `${title} on ${site.title}.`,
    main,
    canonical: null,
    search: !site.private,
  })
}
