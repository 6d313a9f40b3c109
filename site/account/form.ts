import type { Child, Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import type { Notice, Viewer } from './viewer.ts'

/** Name of the hidden field that carries the CSRF token. */
export const CSRF_FIELD = 'csrf'

/** A form that changes something: it posts, and it proves where it comes from. */
export function postForm(
  viewer: Pick<Viewer, 'csrf'>,
  action: string,
  content: Child,
  className = 'form',
): Markup {
  return html`<form class="${className}" method="post" action="${action}"><input type="hidden" name="${CSRF_FIELD}" value="${viewer.csrf}">
${content}
</form>`
}

/** A form that is only a button. */
export function buttonForm(
  viewer: Pick<Viewer, 'csrf'>,
  action: string,
  text: string,
  fields: Readonly<Record<string, string>> = {},
  label = text,
): Markup {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return postForm(
    viewer,
    action,
    html`${hidden}<button class="button small"${label === text ? null : html` aria-label="${label}"`}>${text}</button>`,
    'inline',
  )
}

/** A labelled field. */
export function field(label: string, input: Markup, hint: Child = null): Markup {
  return html`<label class="field"><span>${label}</span>${input}${hint === null ? null : html`<small class="quiet">${hint}</small>`}</label>`
}

/** What a form did, or why it did not. */
export function noticeBox(notice: Notice | null): Markup | null {
  if (notice === null) return null
  return html`<p class="notice ${notice.kind === 'failed' ? 'bad' : 'good'}" role="${notice.kind === 'failed' ? 'alert' : 'status'}">${notice.text}</p>`
}
