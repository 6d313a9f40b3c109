import { html, type Markup } from './markup.ts'

/** A page of a list that takes several. */
export interface PagePosition {
  /** From 1. */
  readonly page: number
  readonly last: number
}

/** The links to the pages before and after; null for a list that fits on one. */
export function pager(
  { page, last }: PagePosition,
  address: (page: number) => string,
): Markup | null {
  if (last <= 1) return null
  const link = (number: number, text: string) => html`<a href="${address(number)}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">${page > 1 ? link(page - 1, '← Previous') : null}<span class="quiet">Page ${page} of ${last}</span>${page < last ? link(page + 1, 'Next →') : null}</nav>`
}
