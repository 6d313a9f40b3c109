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
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const button = html`<button class="button small"${label === text ? null : html` aria-label="${label}"`}>${text}</button>`
  return postForm(viewer, action, [hidden, button], 'inline')
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

type Term = readonly [term: string, value: Child]

/** Renders terms with their values; leaves out those that are false. */
export function termList(rows: readonly (Term | false)[]): Markup {
  return html`<dl class="status">${rows.map(
    row => row && html`<div><dt class="quiet">${row[0]}</dt><dd>${row[1]}</dd></div>\n`,
  )}</dl>`
}

/** Renders a notice; null without one. */
export function noticeBox(notice: Notice | null): Markup | null {
  if (notice === null) return null
  const [className, role] = notice.kind === 'failed' ? ['bad', 'alert'] : ['good', 'status']
  return html`<p class="notice ${className}" role="${role}">${messageText(notice.text)}</p>`
}
