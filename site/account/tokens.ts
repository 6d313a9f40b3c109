import { copyBlock } from '../elements/install.ts'
import { account, type Linker } from '../elements/links.ts'
import type { Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { timeTag } from '../elements/time.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, field, postForm } from './form.ts'
import type { Viewer } from './viewer.ts'

/** A token of a user; its text is known only when it has just been made. */
export interface TokenRow {
  readonly id: string | number
  readonly name: string
  /** Empty: everything its user may do. */
  readonly scopes: readonly string[]
  /** Patterns; empty: all crates. */
  readonly crates: readonly string[]
  readonly created: string
  readonly expires: string | null
  readonly lastUsed: string | null
  /** Whether it has expired by now. */
  readonly expired: boolean
}

/** What a token may be allowed, and what it means. */
export const SCOPES = [
  ['publish-new', 'publish new crates'],
  ['publish-update', 'publish new versions'],
  ['yank', 'yank and unyank'],
  ['change-owners', 'change owners'],
  ['read', 'read a private registry'],
] as const

/** What was filled into the form, to be shown again when it was refused. */
export interface TokenDraft {
  readonly name: string
  readonly scopes: readonly string[]
  readonly crates: string
  readonly expires: string
}

const EXPIRIES = [
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', 'one year'],
  ['', 'never'],
] as const

/** A token that has just been made: this is the only time that anyone sees it. */
export function newToken(site: SiteConfig, token: string): Markup {
  return html`<section class="notice good" aria-label="New token"><p><strong>Copy your new token now.</strong> It is shown this once.</p>
${copyBlock(token, 'token')}
<p>Cargo asks for it after this line, and keeps it:</p>
${copyBlock(`cargo login --registry ${site.registry}`, 'cargo login command')}
</section>`
}

/** The tokens a user has. */
export function tokenList(viewer: Viewer, tokens: readonly TokenRow[], to: Linker): Markup {
  if (tokens.length === 0) return html`<p class="quiet">You have no tokens yet.</p>`
  return html`<ul class="rows">
${tokens.map(
  token => html`<li class="row-with-action"><div><div class="row-head"><strong>${token.name}</strong>${token.expired ? html` <span class="badge bad">expired</span>` : null}
<span class="note">${token.scopes.length === 0 ? 'everything you may do' : token.scopes.join(', ')}${token.crates.length === 0 ? null : html` · only <code>${token.crates.join(' ')}</code>`}</span></div>
<div class="row-more">made ${timeTag(token.created)} · ${token.lastUsed === null ? 'never used' : html`last used ${timeTag(token.lastUsed)}`} · ${token.expires === null ? 'never expires' : html`expires ${timeTag(token.expires)}`}</div></div>
${buttonForm(viewer, to(account.revokeToken(token.id)), 'Revoke', {}, `Revoke ${token.name}`)}</li>
`,
)}</ul>`
}

/** The form that makes a token. */
export function tokenForm(viewer: Viewer, draft: TokenDraft | null, to: Linker): Markup {
  const chosen = draft?.expires ?? '90d'
  return postForm(
    viewer,
    to(account.tokens),
    html`${field('Name', html`<input name="name" value="${draft?.name}" required maxlength="100" placeholder="laptop, CI of …">`)}
<fieldset class="field"><legend>It may</legend>
${SCOPES.map(
  ([scope, meaning]) =>
    html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${draft?.scopes.includes(scope) ? html` checked` : null}> ${meaning} <code>${scope}</code></label>`,
)}<small class="quiet">Nothing ticked: everything you may do.</small></fieldset>
${field('Crates', html`<input name="crates" value="${draft?.crates}" placeholder="all">`, html`Names or beginnings (<code>team-*</code>), with spaces between.`)}
${field('Expires after', html`<select name="expires">${EXPIRIES.map(([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : null}>${text}</option>`)}</select>`)}
<button class="button main">Make token</button>`,
  )
}
