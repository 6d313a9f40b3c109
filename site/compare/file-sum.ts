import { counted, formatNumber } from '../../core/quantity.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { FileDiff } from './file-diff.ts'

/** The element with the sum, which stands above everything of unlimited length. */
const SUM = /<p class="file-sum">([\w ,:;.]*)<\/p>/

/** How far the sum is searched for. */
const BEGINNING = 65_536

const KINDS = ['changed', 'added', 'removed', 'renamed'] as const

/** Renders for example `3 files differ: 2 changed, 1 added; 20 lines added, 3 removed.` */
export function fileSum(diffs: readonly FileDiff[]): Markup {
  if (diffs.length === 0) return html`<p class="file-sum">No file differs.</p>`
  const kinds = KINDS.flatMap(kind => {
    const n = diffs.filter(({ pair }) => pair.kind === kind).length
    return n === 0 ? [] : [`${formatNumber(n)} ${kind}`]
  }).join(', ')
  const sum = (count: 'added' | 'removed') => diffs.reduce((all, one) => all + one[count], 0)
  const lines = `${counted(sum('added'), 'line')} added, ${formatNumber(sum('removed'))} removed`
  const files = counted(diffs.length, 'file differs', 'files differ')
  return html`<p class="file-sum">${files}: ${kinds}; ${lines}.</p>`
}

/** Returns the sum on a page that `comparisonPage` rendered; empty if the page has none. */
export function readFileSum(page: Buffer): string {
  return SUM.exec(page.toString('latin1', 0, BEGINNING))?.[1] ?? ''
}
