import type { Features } from '../../core/entry/entry.ts'
import type { Name } from '../../core/name.ts'
import { deprecationText } from '../../core/notes/notes.ts'
import {
  crateFeedPath,
  cratePath,
  crateRecordPath,
  latestPath,
  VERSIONS_SHOWN,
  versionPath,
  versionsPath,
} from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { counted, formatBytes, formatNumber } from '../../core/quantity.ts'
import type { CrateData, ListedVersion, VersionData, VersionRow } from '../crate-data.ts'
import { cut, dateTag, filterBox, trail } from '../elements/elements.ts'
import { absoluteLink, type Linker, linker } from '../elements/links.ts'
import { html, join, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { advisoryBadge } from './advisories.ts'
import { publisherOf } from './sidebar.ts'

const SELECTOR_MAX = 12
export const VERSIONS_MAX = 1000

type Versions = Pick<CrateData, 'name' | 'versions' | 'versionCount'>

/** Renders the part of a crate's page with its versions, or the newest of them. */
export function versionSection({ name, versions, versionCount }: Versions, to: Linker): Markup {
  if (versionCount <= VERSIONS_SHOWN) return versionTable(name, versions, to, null)
  const all = to(versionsPath(name))
  return html`${versionTable(name, versions, to, all)}
<p>These are the newest ${VERSIONS_SHOWN}. <a href="${all}">Show ${shownOf(versionCount)}</a></p>`
}

function shownOf(count: number): string {
  const most = count > VERSIONS_MAX ? `the newest ${formatNumber(VERSIONS_MAX)} of` : 'all'
  return `${most} ${counted(count, 'version')}`
}

/** Renders the page of all versions, for a crate that has too many for its own page. */
export function versionsPage(site: SiteConfig, { name, versions, versionCount }: Versions): Output {
  const path = versionsPath(name)
  const to = linker(site, path)
  const record = html`<a href="${to(crateRecordPath(name as Name))}">crate.json</a>`
  const main = html`<div class="wide page">
${trail(to, [cratePath(name), name], 'Versions')}
<h1>Versions of ${name}</h1>
<p class="lead">${counted(versionCount, 'version')}${versionCount > VERSIONS_MAX ? html`; the page shows the newest ${formatNumber(VERSIONS_MAX)}, ${record} has all` : null}</p>
${versionTable(name, versions, to, null)}
</div>`
  const [title, feed] = [`Versions of ${name}`, crateFeedPath(name)]
  return output(path, layout(site, { path, title, main, canonical: null, feed }))
}

/** Renders a table of versions; `all`: see `filterBox`. */
function versionTable(
  name: string,
  versions: readonly ListedVersion[],
  to: Linker,
  all: string | null,
): Markup {
  const shown = all === null ? versions : versions.slice(0, VERSIONS_SHOWN)
  // A static tree has neither times nor publishers.
  const hasTimes = shown.some(row => row.publishedAt !== null)
  const hasPeople = shown.some(row => publisherOf(row, to) !== null)
  const example = hasPeople ? '1.2, yanked, a publisher' : '1.2, yanked'
  return html`${filterBox('version-rows', example, all)}<div class="scroll" role="region" aria-label="Table of versions" tabindex="0"><table class="versions">
<thead><tr><th scope="col">Version</th>${hasTimes ? html`<th scope="col">Published</th>` : null}${hasPeople ? html`<th scope="col">Published by</th>` : null}<th scope="col">Rust</th><th scope="col" class="number">Size</th><th scope="col">Changes</th></tr></thead>
<tbody id="version-rows">
${shown.map(
  (
    row,
    at,
  ) => html`<tr${row.yanked ? html` class="yanked"` : null}><th scope="row"><a href="${to(versionPath(name, row.version))}">${row.version}</a>${badges(row)}</th>${hasTimes ? html`<td>${dateTag(row.publishedAt) ?? '–'}</td>` : null}${hasPeople ? html`<td>${publisherOf(row, to) ?? '–'}</td>` : null}<td>${row.rust_version ?? '–'}</td><td class="number">${formatBytes(row.size)}</td><td class="what">${changeCell(name, row, versions[at + 1], to)}</td></tr>
`,
)}</tbody>
</table></div>`
}

/** Features that are named for each version; the page of its changes has all of them. */
const FEATURES_NAMED = 3

/** Renders what changed since the version before: a link, and what users look for first. */
function changeCell(
  name: string,
  version: ListedVersion,
  before: ListedVersion | undefined,
  to: Linker,
): Markup | null {
  if (before === undefined) return null
  const link = html`<a href="${to(versionPath(name, version.version))}#changes" aria-label="Changes in ${version.version}">Changes</a>`
  const license = (of: ListedVersion) => of.license ?? of.license_file
  const { features: now } = version
  const { features: old } = before
  const words = [
    license(version) === license(before)
      ? null
      : cut(`license ${license(version) ?? 'not stated'}`),
    ...(now && old ? [signed('+', difference(now, old)), signed('−', difference(old, now))] : []),
  ].filter(word => word !== null)
  return html`${link}${words.length === 0 ? null : html` <span class="quiet small">${join(words, ' · ')}</span>`}`
}

function difference(features: Features, others: Features): string[] {
  return Object.keys(features).filter(name => !Object.hasOwn(others, name))
}

function signed(sign: string, names: readonly string[]): string | null {
  if (names.length === 0) return null
  const more = names.length - FEATURES_NAMED
  const shown = names.slice(0, FEATURES_NAMED).map(name => sign + cut(name, 64))
  return `${shown.join(' ')}${more > 0 ? ` and ${more} more` : ''}`
}

function badges(row: VersionRow): Markup {
  const yanked = html` <span class="badge bad" title="${row.yankReason ?? ''}">yanked</span>`
  const title = row.deprecation && deprecationText(row.deprecation)
  const deprecated = html` <span class="badge bad" title="${title}">deprecated</span>`
  return html`${row.yanked ? yanked : null}${title && deprecated}${advisoryBadge(row)}`
}

/** Renders the selector of a crate's page: the newest versions, and a link to all of them. */
export function versionSelector(
  { name, newest, versions, versionCount }: CrateData,
  to: Linker,
): Markup | null {
  if (versionCount < 2) return null
  const items = versions.slice(0, SELECTOR_MAX).map(row => {
    const current = row.version === newest.version ? html` aria-current="true"` : null
    return html`<li><a href="${to(versionPath(name, row.version))}"${current}>${row.version}</a>${badges(row)}</li>`
  })
  const all = html`<li><a href="#versions">All ${counted(versionCount, 'version')}</a></li>`
  return html`<details class="selector"><summary>${counted(versionCount, 'version')}</summary><ul class="plain">${items}${all}</ul></details>`
}

/**
 * Renders the selector of a version's page, which must not depend on later versions: a script
 * replaces its items with those of the crate's page.
 */
export function otherVersions({ name, previous }: VersionData, to: Linker): Markup {
  const crate = to(cratePath(name))
  const before =
    previous &&
    html`<li><a href="${to(versionPath(name, previous.version))}">${previous.version}</a></li>`
  return html`<details class="selector" data-from="${crate}"><summary>Versions</summary><ul class="plain"><li><a href="${crate}">Newest version</a></li>${before}<li><a href="${crate}#versions">All versions</a></li></ul></details>`
}

/**
 * Renders the page at a crate's permanent address for its newest version. It leads to the crate's
 * page, which shows that: so no publish of a version changes it.
 */
export function latestPage(site: SiteConfig, name: string): Output {
  const path = latestPath(name)
  const link = linker(site, path)(cratePath(name))
  const canonical = absoluteLink(site, cratePath(name))
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0; url=${link}">
<meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="canonical" href="${canonical}">
</head>
<body>
<main><h1><a href="${link}">${name}</a></h1></main>
</body>
</html>
`
  return output(path, page)
}
