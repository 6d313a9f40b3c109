import { cratePath, versionPath } from '../../core/paths/crates.ts'
import { formatBytes, formatNumber } from '../../core/quantity.ts'
import { exactTimeTag, messageText } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, termList, type Viewer } from './frame.ts'

export interface BoundedCount {
  readonly what: string
  readonly n: number
  readonly isMore: boolean
}

/** Something that went wrong, and when it was or will be tried. */
export interface StatusProblem {
  readonly what: string
  readonly crate: string | null
  readonly version: string | null
  readonly why: string
  readonly at: string | null
  /** When failed work is tried again; null if it is not work that waits. */
  readonly retryAt: string | null
}

export interface StatusData {
  readonly viewer: Viewer
  readonly at: string
  readonly started: string
  readonly crates: number
  readonly versions: number
  readonly users: number
  readonly index: string
  /** Free and total bytes of the registry's file systems, each with its content. */
  readonly disks: readonly { readonly what: string; readonly free: number; readonly size: number }[]
  readonly databaseBytes: number
  readonly memoryBytes: number
  readonly programs: readonly (readonly [name: string, version: string])[]
  readonly daemon: string | null
  readonly gitIndex: string
  readonly warnings: readonly string[]
  readonly pending: readonly BoundedCount[]
  readonly errors: readonly StatusProblem[]
  readonly failed: readonly StatusProblem[]
  readonly plain: readonly StatusProblem[]
  /** What webhooks were told last. */
  readonly deliveries: readonly StatusProblem[]
}

/** Renders the report of `plimsoll status`. A link refreshes it, without a script. */
export function statusPage(site: SiteConfig, data: StatusData): string {
  const path = account.status
  const to = linker(site, null)
  const { pending } = data
  const body = html`<p class="quiet">As of ${exactTimeTag(data.at)} UTC. <a href="${to(path)}">Refresh</a></p>
<section class="part"><h2>Registry</h2>${termList([
    ['Crates', formatNumber(data.crates)],
    ['Versions', formatNumber(data.versions)],
    ['Users', html`<a href="${to(account.users)}">${formatNumber(data.users)}</a>`],
    ['Index', html`<code>${data.index}</code>`],
    ['Git index', messageText(data.gitIndex)],
    ...data.warnings.map(warning => ['Warning', messageText(warning)] as const),
    ...(data.daemon === null ? [] : [['Daemon', data.daemon] as const]),
    ['Running since', html`${exactTimeTag(data.started)} UTC (${age(data.started, data.at)})`],
    ['Memory', formatBytes(data.memoryBytes)],
    ['Database', formatBytes(data.databaseBytes)],
    ...data.disks.map(
      ({ what, free, size }) =>
        [what, `${formatBytes(free)} of ${formatBytes(size)} free`] as const,
    ),
    ...data.programs,
  ])}</section>
<section class="part"><h2>Pending work</h2>${pending.length === 0 ? html`<p>Nothing is pending.</p>` : termList(pending.map(({ what, n, isMore }) => [what, `${isMore ? 'more than ' : ''}${formatNumber(n)}`]))}</section>
<section class="part"><h2>Last errors</h2>${problems(data.errors, to, 'No background work has failed.')}</section>
<section class="part"><h2>Retrying</h2>${problems(data.failed, to, 'None.')}</section>
<section class="part"><h2>Shown as plain text</h2>${problems(data.plain, to, 'None.')}</section>
<section class="part" id="webhooks"><h2>Webhooks</h2>${problems(data.deliveries, to, 'Nothing was sent.')}</section>`
  return accountPage(site, data.viewer, { path, title: 'Status', body })
}

function problems(rows: readonly StatusProblem[], to: Linker, none: string): Markup {
  if (rows.length === 0) return html`<p class="quiet">${none}</p>`
  const row = ({ what, crate, version, why, at, retryAt }: StatusProblem) =>
    html`<li><div class="row-head"><strong>${what}</strong>
${crate === null ? null : html`<a href="${to(cratePath(crate))}">${crate}</a>`}
${crate === null || version === null ? null : html`<a href="${to(versionPath(crate, version))}">${version}</a>`}
<span class="note">${at === null ? null : exactTimeTag(at)}${at === null || retryAt === null ? null : ' · '}${retryAt === null ? null : html`next attempt ${exactTimeTag(retryAt)}`}</span></div>
<div class="row-more">${messageText(why)}</div></li>
`
  return html`<ul class="rows">${rows.map(row)}</ul>`
}

/** Returns the time between two timestamps: `3 d 4 h`. */
function age(from: string, to: string): string {
  const minutes = Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 60_000))
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}
