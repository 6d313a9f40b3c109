import { html, type Markup } from './markup.ts'

/** A message as markup; what stands between backticks becomes code. */
export function messageText(message: string): Markup {
  const parts = message.split('`')
  if (parts.length % 2 === 0) return html`${message}`
  return html`${parts.map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`
}
