import { type Markup, raw } from './markup.ts'

const PATHS = {
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 4 4"/>',
  copy: '<rect x="5.5" y="5.5" width="9" height="9" rx="1.5"/><path d="M11 2.5H3A1.5 1.5 0 0 0 1.5 4v7.5"/>',
  download: '<path d="M8 1.5v9m-4-3.500 4 4 4-4M2 14.500h12"/>',
  file: '<path d="M3.500 1.500h6l3 3v10h-9z"/><path d="M9.500 1.500v3h3"/>',
  folder: '<path d="M1.500 3.500h5l1.500 2h6.500v8h-13z"/>',
} as const

/** A small drawing in the color of the text around it, hidden from screen readers. */
export function icon(name: keyof typeof PATHS): Markup {
  return raw(
    `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">${PATHS[name]}</svg>`,
  )
}
