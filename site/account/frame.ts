// site/account: The pages for people who log in. daemon/web calls it; nothing of it is in the
// public tree.
import { PASSWORD_SHORTEST } from '../../core/password.ts'
import { messageText } from '../elements/elements.ts'
import { account, linker } from '../elements/links.ts'
import { type Child, html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

/** Renders the frame of every page that needs a login. */
export function accountPage(
  site: SiteConfig,
  viewer: Viewer,
  page: { path: string; title: string; notice?: Notice | null; body: Child },
): string {
  const { path, title, notice = null, body } = page
  // A refused form is shown at the path it was posted to, so links start at the root.
  const to = linker(site, null)
  const tabs: [string, string][] = [['Your account', account.home]]
  if (viewer.admin)
    tabs.push(
      ['Users', account.users],
      ['CI', account.trust],
      ['Audit log', account.audit],
      ['Status', account.status],
    )
  const main = html`<div class="wide page">
<nav class="tabs" aria-label="Account">${tabs.map(
    ([text, target]) =>
      html`<a href="${to(target)}"${target === path ? html` aria-current="page"` : null}>${text}</a>`,
  )}${buttonForm(viewer, to(account.logout), 'Log out')}</nav>
<h1>${title}</h1>
${noticeBox(notice)}
${body}
</div>`
  return layout(site, { path: null, title, main, viewer: viewer.login })
}

/** The logged-in user that a page is for, and the token that protects its forms. */
export interface Viewer {
  readonly login: string
  readonly admin: boolean
  /** Value of the CSRF field in every form. */
  readonly csrf: string
}

/** A message above the page about the outcome of a form. */
export interface Notice {
  readonly kind: 'done' | 'failed'
  readonly text: string
}

/** Renders a form that changes something: it uses POST and has the CSRF token. */
export function postForm(
  { csrf }: Pick<Viewer, 'csrf'>,
  action: string,
  content: Child,
  className = 'form',
): Markup {
  return html`<form class="${className}" method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}">
${content}
</form>`
}

/** Renders a form of one button; `label` is its name for screen readers, by default the text. */
export function buttonForm(
  viewer: Pick<Viewer, 'csrf'>,
  action: string,
  text: string,
  { label = text, ...fields }: Readonly<Record<string, string>> = {},
): Markup {
  const button = html`<button class="button small"${label === text ? null : html` aria-label="${label}"`}>${text}</button>`
  return postForm(viewer, action, [hiddenFields(fields), button], 'inline')
}

function hiddenFields(fields: Readonly<Record<string, string>> = {}): Markup[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}

/** Renders a link to the page that asks before a change; `label` names what is changed. */
export function askLink(href: string, text: string, label: string): Markup {
  return html`<a class="button small" href="${href}" aria-label="${label}">${text}</a>`
}

/** Renders a field with its label. */
export function field(label: string, input: Markup, hint: Child = null): Markup {
  return html`<label class="field"><span>${label}</span>${input}${hint === null ? null : html`<small class="quiet">${hint}</small>`}</label>`
}

/** Renders a password field; `autocomplete` tells browsers which password to fill in. */
export function passwordField(
  label: string,
  name: string,
  autocomplete: string,
  hint: Child = null,
): Markup {
  const input = html`<input type="password" name="${name}" autocomplete="${autocomplete}" required>`
  return field(label, input, hint)
}

/** Renders the fields of a new password: it is entered twice. */
export function newPasswordFields(): Markup[] {
  const hint = `At least ${PASSWORD_SHORTEST} characters. Several words make a good password.`
  return [
    passwordField('New password', 'password', 'new-password', hint),
    passwordField('New password again', 'again', 'new-password'),
  ]
}

/** Renders a hidden field that tells browsers the owner of a new password. */
export function knownUser(login: string): Markup {
  return html`<input type="text" name="login" value="${login}" autocomplete="username" hidden>`
}

/** Renders a notice; null without one. */
export function noticeBox(notice: Notice | null): Markup | null {
  if (notice === null) return null
  const [className, role] = notice.kind === 'failed' ? ['bad', 'alert'] : ['good', 'status']
  return html`<p class="notice ${className}" role="${role}">${messageText(notice.text)}</p>`
}

/** Title, explanation and button, which is the title by default; `#` and `@` stand for names. */
const QUESTIONS = {
  revoke: ['Revoke the token #?', 'Programs that use it are refused. This cannot be undone.'],
  'end-session': ['End the session of #?', 'It began @. Whoever uses it has to log in again.'],
  'end-sessions': ['End all other sessions of #?', 'Other browsers have to log in again.'],
  decline: ['Decline to own #?', 'To become an owner later, you need another invitation.'],
  'remove-owner': ['Remove @?', '@ will no longer be able to publish or yank versions of #.'],
  withdraw: ['Withdraw the invitation of @?', '@ will no longer be able to accept to own #.'],
  'remove-rule': ['Remove rule #?', 'Jobs publish @ by it no longer.'],
  'trusted-only': [
    'Let only CI publish versions of #?',
    'Tokens of owners publish them no longer, until an owner turns that off.',
  ],
  'trusted-only-ended': [
    'Let owners publish versions of #, too?',
    'Tokens of owners publish them again. The audit log says who has turned that on.',
  ],
  yank: [
    'Yank # @?',
    'New builds will no longer choose this version. Builds whose Cargo.lock names it keep working.',
    'Yank @',
  ],
  'yank-reason': ['Why is # @ yanked?', 'Publishers of dependents see it, too.', 'Save'],
  undeprecate: ['Take back the deprecation of #?', 'Nothing says any more that it is deprecated.'],
  unyank: ['Unyank # @?', 'New builds will choose this version again.', 'Unyank @'],
  lock: ['Lock #?', 'Tokens of # are refused and every session ends, until # is unlocked.'],
  unlock: ['Unlock #?', '# can log in again, and the tokens of # work again.'],
  promote: ['Make # an administrator?', '# can then change every crate and every account.'],
  demote: ['Revoke the admin rights of #?', '# can then change only the crates that # owns.'],
  link: ['Link #?', '# then logs in at the issuer, and no longer with a password.'],
  'link-only': ['Link #?', '# can then log in at the issuer, too.'],
  reset: ['Reset the password of #?', 'You get a link for #, which sets a new password once.'],
  'reset-login': ['Make a login link for #?', 'You get a link for #, which logs # in once.'],
  allow: ['Allow #?', 'Builds can then choose it, although it is held.'],
  hold: ['Hold # again?', 'Builds can then choose it only when it is old enough.'],
  accept: ['Accept #?', 'It is taken as the upstream has it now, and its alarm is cleared.'],
} as const

/** What somebody is asked before the form of the same path changes something. */
export interface Question {
  readonly about: keyof typeof QUESTIONS
  /** What is changed, then whom or which version it concerns. */
  readonly names: readonly string[]
  readonly fields?: Readonly<Record<string, string>>
  /** Why a version is yanked, which can be changed; null for no reason. */
  readonly said?: string | null
  /** The page to go back to, by default that of the account. */
  readonly back?: string
  /** The query of the page to go back to, which the form keeps; with its `?`, or empty. */
  readonly query?: string
  /** Rules of jobs that an owner wrote, and that stay unless they are removed, too. */
  readonly rules?: readonly string[]
}

/** Renders a page that asks for confirmation; it works without JavaScript. */
export function confirmPage(
  site: SiteConfig,
  viewer: Viewer,
  path: string,
  { about, names: [what = '', whom = ''], ...more }: Question,
): string {
  const { fields, said = null, back = account.home, query = '', rules = [] } = more
  const [title = '', text, button = title.slice(0, -1)] = QUESTIONS[about].map(part =>
    part.replace(/[#@]/g, sign => (sign === '#' ? what : whom)),
  )
  const to = linker(site, null)
  const reason = html`<input name="reason" maxlength="1000" value="${said}">`
  const list = html`<p>Rules of theirs by which jobs publish stay:</p>
<ul>${rules.map(rule => html`<li>${rule}</li>`)}</ul>`
  const both = html`<button class="button" name="rules" value="remove">${button} and these rules</button>`
  const body = html`<p class="lead">${text}</p>${rules.length > 0 ? list : null}
${postForm(
  viewer,
  `${to(path)}${query}`,
  html`${hiddenFields(fields)}${/^yank/.test(about) ? field('Reason', reason, 'Optional. Pages and feeds show it.') : null}
<div class="actions"><button class="button">${button}</button>${rules.length > 0 ? both : null}<a href="${to(back)}${query}">Cancel</a></div>`,
)}`
  return accountPage(site, viewer, { path, title, body })
}
