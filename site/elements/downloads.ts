import { crateDownloadsPath, crateDownloadsPlotPath } from '../../core/paths/crates.ts'
import { downloadsPath, downloadsPlotPath, type Output, output } from '../../core/paths/tree.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import type { Linker } from './links.ts'
import { html, type Markup, raw } from './markup.ts'
import { type PlotPoint, plotSvg } from './plot.ts'

export interface DownloadData {
  /** The crate; null for the whole registry. */
  readonly name: string | null
  readonly total: number
  /** The downloads of 90 days, oldest first. */
  readonly days: readonly PlotPoint[]
  /** The total of each version of the crate that was ever downloaded. */
  readonly versions: ReadonlyMap<string, number>
}

/** The size of the drawing: two lines of text, and the plot below them. */
const WIDTH = 300
const HEIGHT = 196

/** The colors of text, on light and on dark pages. */
const COLORS = `text{fill:#586673}.ink{fill:#17212b}
@media(prefers-color-scheme:dark){text{fill:#9dabb6}.ink{fill:#e3e9ed}}`

function pathsOf(name: string | null): [numbers: string, drawing: string] {
  if (name === null) return [downloadsPath, downloadsPlotPath]
  return [crateDownloadsPath(name), crateDownloadsPlotPath(name)]
}

/**
 * Renders the files with the downloads of a crate or the registry: the numbers, and their drawing.
 * Pages show them by their addresses, so that no page is rendered again because of a download.
 */
export function downloadFiles({ name, total, days, versions }: DownloadData): Output[] {
  const recent = days.reduce((sum, point) => sum + point.value, 0)
  const numbers = {
    ...(name !== null && { name }),
    total,
    recent,
    from: days[0]?.at ?? null,
    to: days.at(-1)?.at ?? null,
    days: days.map(point => point.value),
    ...(name !== null && { versions: Object.fromEntries(versions) }),
  }
  const data = { title: 'Downloads per day', every: 'day', points: days } as const
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui,sans-serif" fill="#767676">
<title>Downloads${name === null ? null : ` of ${name}`}</title>
<style>${raw(COLORS)}</style>
<text y="15" font-size="14"><tspan class="ink" font-size="17" font-weight="700">${formatNumber(total)}</tspan> in total</text>
<text y="36" font-size="14">${formatNumber(recent)} in the last ${counted(days.length, 'day')}</text>
<svg y="46" height="150">${plotSvg(data, true)}</svg>
</svg>
`
  const [path, drawing] = pathsOf(name)
  return [output(path, `${JSON.stringify(numbers)}\n`), output(drawing, svg)]
}

/** Renders the part of a page that shows the downloads of a crate, or of the registry. */
export function downloadSection(name: string | null, to: Linker): Markup {
  const [path, drawing] = pathsOf(name)
  const numbers = to(path)
  return html`<section class="downloads"><h2>Downloads</h2>
<img src="${to(drawing)}" width="${WIDTH}" height="${HEIGHT}" alt="Plot of the downloads per day; the link below leads to the numbers" data-numbers="${numbers}">
<p class="quiet small"><a href="${numbers}">Data (JSON)</a></p>
</section>`
}
