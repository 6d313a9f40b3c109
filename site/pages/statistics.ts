import { cratePath } from '../../core/paths/crates.ts'
import { orderedListPath, statisticsPath } from '../../core/paths/listings.ts'
import { frontPath, type Output, output } from '../../core/paths/tree.ts'
import { formatBytes, formatNumber } from '../../core/quantity.ts'
import type { CrateItem } from '../crate-data.ts'
import { downloadSection } from '../elements/downloads.ts'
import { crateDependents, termList, timeTag, trail } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { type PlotData, plot } from '../elements/plot.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

export const RANKS_SHOWN = 10

export const WEEKS_SHOWN = 53

/** New releases and crates in the week from a Monday on, such as `2026-11-16`. */
export interface WeekCount {
  readonly at: string
  readonly releases: number
  readonly crates: number
}

export interface Statistics {
  readonly crates: number
  readonly versions: number
  readonly bytes: number
  /** The last `WEEKS_SHOWN` weeks until the latest release, without gaps; empty without times. */
  readonly weeks: readonly WeekCount[]
  readonly popular: readonly CrateItem[]
  readonly largest: readonly CrateItem[]
  /** Empty without times. */
  readonly newest: readonly CrateItem[]
}

/** Renders the statistics of the registry. */
export function statisticsPage(site: SiteConfig, data: Statistics): Output {
  const path = statisticsPath
  const to = linker(site, path)
  const title = 'Statistics'
  const main = html`<div class="wide page">
${trail(to, [frontPath, 'Home'])}
<h1>${title}</h1>
${termList([
  ['Crates', formatNumber(data.crates)],
  ['Versions', formatNumber(data.versions)],
  ['All .crate files', formatBytes(data.bytes)],
])}
${data.weeks.length === 0 ? html`<p class="quiet">Plots over time need times of publication, which this registry does not know.</p>` : null}
<div class="columns">
${data.weeks.length === 0 ? null : plotsOf(data).map(plot)}
${site.downloads ? downloadSection(null, to) : null}
${ranks('Most depended on', data.popular, to, crateDependents, to(orderedListPath('dependents', 1)))}
${ranks('Largest', data.largest, to, ({ bytes }) => formatBytes(bytes ?? 0), null)}
${ranks('Newest', data.newest, to, ({ updatedAt }) => timeTag(updatedAt), to(orderedListPath('newest', 1)))}
</div>
</div>`
  return output(path, layout(site, { path, title, main }))
}

function plotsOf({ weeks, crates }: Statistics): PlotData[] {
  let total = crates - weeks.reduce((sum, week) => sum + week.crates, 0)
  const totals = weeks.map(week => {
    total += week.crates
    return { at: week.at, value: total }
  })
  const releases = weeks.map(({ at, releases: value }) => ({ at, value }))
  return [
    { title: 'Releases per week', every: 'week', points: releases },
    { title: 'Crates', isTotal: true, every: 'week', points: totals },
  ]
}

function ranks(
  title: string,
  crates: readonly CrateItem[],
  to: Linker,
  figure: (crate: CrateItem) => Markup | string | null,
  all: string | null,
): Markup | null {
  if (crates.length === 0) return null
  const items = crates.map(
    crate =>
      html`<li><a href="${to(cratePath(crate.name))}">${crate.name}</a> <span class="quiet">${figure(crate)}</span></li>`,
  )
  const heading = all === null ? title : html`<a href="${all}">${title}</a>`
  return html`<section><h2>${heading}</h2><ol class="ranks">${items}</ol></section>`
}
