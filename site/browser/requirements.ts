import { fits } from '../crate/fits.ts'
import type { Load } from './filter.ts'

/**
 * Says beside the requirement of a linked crate which version here is the newest; and if the
 * requirement excludes that one, which is the newest that fits.
 */
export async function sayNewest(link: HTMLAnchorElement, load: Load): Promise<void> {
  const title = await load(`${link.href}badge.svg`, 'title')
  const [, newest = '', version = ''] = /: v?((\S+).*)/.exec(title?.textContent ?? '') ?? []
  const code = link.parentElement?.querySelector('.requirement')
  const requirement = code?.textContent ?? ''
  if (!code || newest === '') return
  const note = Object.assign(document.createElement('span'), { className: 'note' })
  note.textContent = `newest here: ${newest}`
  if (!fits(requirement, version)) {
    const rows = await load(link.href, '#version-rows')
    const numbers = [...(rows?.querySelectorAll('tr:not(.yanked) th a') ?? [])]
    const fitting = numbers.find(({ textContent }) => fits(requirement, textContent ?? ''))
    note.textContent += ', which this excludes'
    if (fitting) note.textContent += `; newest that fits: ${fitting.textContent}`
  }
  code.after(' ', note)
}
