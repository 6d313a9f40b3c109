import { cargoLogin, copyBlock } from '../elements/copy-block.ts'
import { account, type Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { timeTag } from '../elements/time.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, field, postForm } from './form.ts'
import type { Viewer } from './viewer.ts'

/** A token of a user, without its text. */
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
  readonly expired: boolean
}

/** What was filled into the form, to be shown again when it was refused. */
export interface TokenDraft {
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

/** A token that has just been created. Nobody sees it again. */
export function newToken(site: SiteConfig, token: string): Markup {
  return html`<section class="notice good" aria-label="New token"><p><strong>Copy your new token now.</strong> You will not see it again.</p>
${copyBlock(token, 'token')}
<p>Run this and paste your token:</p>
${cargoLogin(site)}
</section>`
}

/** The tokens a user has. */
export function tokenList(viewer: Viewer, tokens: readonly TokenRow[], to: Linker): Markup {
  if (tokens.length === 0) return html`<p class="quiet">You have no tokens yet.</p>`
  return html`<ul class="rows">
${tokens.map(
  ({
    id,
    name,
    scopes,
    crates,
    created,
    expires,
    lastUsed,
    expired,
  }) => html`<li class="row-with-action"><div><div class="row-head"><strong>${name}</strong>${expired ? html` <span class="badge bad">expired</span>` : null}
<span class="note">${scopes.join(', ') || 'full access'}${crates.length === 0 ? null : html` · only <code>${crates.join(' ')}</code>`}</span></div>
<div class="row-more">created ${timeTag(created)} · ${lastUsed === null ? 'never used' : html`last used ${timeTag(lastUsed)}`} · ${expires === null ? 'never expires' : html`expires ${timeTag(expires)}`}</div></div>
${buttonForm(viewer, to(account.revokeToken(id)), 'Revoke', { label: `Revoke ${name}` })}</li>
`,
)}</ul>`
}

/** The form that creates a token. */
export function tokenForm(viewer: Viewer, draft: TokenDraft | null, to: Linker): Markup {
  const chosen = draft?.expires ?? '90d'
  const access = (value: string, text: string) =>
    html`<label class="choice"><input type="radio" name="access" value="${value}" required${draft?.access === value ? html` checked` : null}> ${text}</label>`
  const scope = ([value, text]: (typeof SCOPES)[number]) =>
    html`<label class="choice"><input type="checkbox" name="scope" value="${value}"${draft?.scopes.includes(value) ? html` checked` : null}> ${text} <code>${value}</code></label>`
  return postForm(
    viewer,
    to(account.tokens),
    html`${field('Name', html`<input name="name" value="${draft?.name}" required maxlength="100" placeholder="laptop, CI of …">`)}
<fieldset class="field"><legend>Permissions</legend>
${access('full', 'Full access: everything you may do')}
${access('limited', 'Limited to:')}
<div class="scopes">${SCOPES.map(scope)}</div></fieldset>
${field('Crates', html`<input name="crates" value="${draft?.crates}" placeholder="all">`, html`Names or prefixes (<code>team-*</code>), separated by spaces.`)}
${field('Expires after', html`<select name="expires">${EXPIRIES.map(([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : null}>${text}</option>`)}</select>`)}
<button class="button main">Create token</button>`,
  )
}
