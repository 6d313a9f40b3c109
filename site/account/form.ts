import { type Child, html, type Markup } from '../elements/markup.ts'
import { messageText } from '../elements/message.ts'
import type { Notice, Viewer } from './viewer.ts'

/** A form that changes something: it posts, with the CSRF token. */
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

/** A form that is only a button; `label` names it for screen readers where the text does not. */
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

/** A field with its label. */
export function field(label: string, input: Markup, hint: Child = null): Markup {
  return html`<label class="field"><span>${label}</span>${input}${hint === null ? null : html`<small class="quiet">${hint}</small>`}</label>`
}

/** A password field; browsers fill it by `autocomplete`. */
export function passwordField(label: string, name: string, autocomplete: string): Markup {
  return field(
    label,
    html`<input type="password" name="${name}" autocomplete="${autocomplete}" required>`,
  )
}

/** What a form did, or why it did not. */
export function noticeBox(notice: Notice | null): Markup | null {
  if (notice === null) return null
  const [className, role] = notice.kind === 'failed' ? ['bad', 'alert'] : ['good', 'status']
  return html`<p class="notice ${className}" role="${role}">${messageText(notice.text)}</p>`
}
