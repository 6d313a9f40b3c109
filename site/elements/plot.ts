import { formatNumber } from '../../core/quantity.ts'
import { formatDate, monthOf } from './elements.ts'
import { html, type Markup, raw } from './markup.ts'

export interface PlotPoint {
  /** The day, or the first day of the period: `YYYY-MM-DD`. */
  readonly at: string
  readonly value: number
}

export interface PlotData {
  readonly title: string
  /** Whether each value counts what was there, and not what was new. */
  readonly isTotal?: boolean
  readonly every: 'day' | 'week'
  /** Oldest first. */
  readonly points: readonly PlotPoint[]
}

const WIDTH = 400
/** Narrower, because it is shown beside a page: its text would become too small. */
const FILE_WIDTH = 300
const HEIGHT = 150
const LEFT = 38
const TOP = 8
const BOTTOM = HEIGHT - 20
const MONTH_WIDTH = 44

/** Readable on light and on dark pages. */
const FILE_COLORS = raw('xmlns="http://www.w3.org/2000/svg" color="#12848c" fill="#767676"')

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

/** Renders a plot with its title and, for screen readers and exact figures, a table. */
export function plot(data: PlotData): Markup {
  const { title, points, every } = data
  const rows = points
    .toReversed()
    .map(
      ({ at, value }) =>
        html`<tr><th scope="row">${formatDate(at)}</th><td>${formatNumber(value)}</td></tr>\n`,
    )
  return html`<figure class="plot">
<figcaption>${title}</figcaption>
${plotSvg(data)}
<details><summary>${title}, as a table</summary>
<table><thead><tr><th scope="col">${every === 'week' ? 'Week of' : 'Day'}</th><th scope="col">Number</th></tr></thead>
<tbody>
${rows}</tbody></table></details>
</figure>`
}

/** Renders only the drawing. `isFile`: for a separate file, which cannot use the page's colors. */
export function plotSvg({ title, isTotal, points }: PlotData, isFile = false): Markup {
  const most = Math.max(0, ...points.map(point => point.value))
  const ticks = ticksTo(most)
  const scale = (BOTTOM - TOP) / (ticks.at(-1) ?? 1)
  const y = (value: number) => round(BOTTOM - value * scale)
  const right = isFile ? FILE_WIDTH : WIDTH
  const step = (right - LEFT) / Math.max(points.length, 1)
  const x = (at: number) => round(LEFT + at * step)
  const grid = ticks.map(tick => `M${LEFT} ${y(tick)}H${right}`).join('')
  const labels = [
    ...ticks.map(
      tick =>
        html`<text x="${LEFT - 5}" y="${y(tick) + 4}" text-anchor="end">${tick < 10_000 ? formatNumber(tick) : COMPACT.format(tick)}</text>`,
    ),
    ...monthsOf(points, Math.ceil(MONTH_WIDTH / step)).map(
      ([at, name]) => html`<text x="${x(at)}" y="${HEIGHT - 5}">${name}</text>`,
    ),
  ]
  const sum = points.reduce((total, point) => total + point.value, 0)
  const summary = `${title}: ${formatNumber(isTotal ? (points.at(-1)?.value ?? 0) : sum)}`
  // A few among many are still to be seen.
  const bars = points.map(({ value }, at) =>
    value === 0
      ? ''
      : `M${x(at)} ${BOTTOM}V${Math.min(y(value), BOTTOM - 1)}h${round(step * 0.8)}V${BOTTOM}z`,
  )
  const colors = isFile ? FILE_COLORS : raw('class="drawing"')
  return html`<svg ${colors} viewBox="0 0 ${right} ${HEIGHT}" role="img" aria-label="${summary}" font-family="system-ui,sans-serif" font-size="12">
<path d="${grid}" stroke="${isFile ? '#767676' : 'currentColor'}" opacity=".3"/><g class="labels">${labels}</g>
<path d="${bars.join('')}" fill="currentColor"/>
</svg>`
}

/** Returns 0 and up to five round numbers, the last at least `most`. */
function ticksTo(most: number): number[] {
  const rough = Math.max(most, 1) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, ([1, 2, 5, 10].find(factor => factor * power >= rough) ?? 10) * power)
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, at) => at * step)
}

/** Returns where months begin, at least `gap` points apart, with their names. */
function monthsOf(points: readonly PlotPoint[], gap: number): [at: number, name: string][] {
  const labels: [number, string][] = []
  for (const [at, point] of points.entries()) {
    const isFirst = at > 0 && point.at.slice(0, 7) !== points[at - 1]?.at.slice(0, 7)
    const last = labels.at(-1)?.[0] ?? -gap
    if (isFirst && at - last >= gap && points.length - at >= gap / 2)
      labels.push([at, monthOf(point.at)])
  }
  return labels
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}
