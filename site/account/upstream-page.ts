import { counted, DURATIONS, formatBytes, inUnits } from '../../core/quantity.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import { ALARMS, sentenceOf, specOf, type VersionState } from '../../core/upstream/explain.ts'
import { exactTimeTag, messageText, termList } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, join, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, askLink, type Notice, noticeBox, type Viewer } from './frame.ts'

export interface UpstreamData {
  /** An administrator; null for readers, who see no buttons and not why a request failed. */
  readonly viewer: Viewer | null
  readonly notice: Notice | null
  readonly settings: UpstreamSettings
  /** The rules that match no version known here, such as `deny: demo@1.0.0`. */
  readonly unmatched: readonly string[]
  /** Since the start of the daemon; `answered` in milliseconds since 1970. */
  readonly counts: Readonly<Record<'hits' | 'misses' | 'bytes', number>> & {
    readonly answered: number | null
    readonly failure: string | null
  }
  readonly alarms: readonly Alarm[]
  /** The crate that was asked for, empty for none, and its versions, the newest last. */
  readonly crate: string
  readonly versions: readonly VersionState[]
}

/** The most alarms and versions on a page. */
export const ALARMS_SHOWN = 50
const VERSIONS_SHOWN = 100

const FALLBACKS = {
  off: 'not asked for here: it has an address of its own',
  redirect: 'looked for there, by redirects',
  serve: 'served from here, by these rules',
}

const BUTTONS = { allow: 'Allow', hold: 'Hold again', accept: 'Accept' }

/** Renders the list of upstreams. */
export function upstreamsPage(site: SiteConfig, names: readonly string[]): string {
  const to = linker(site, null)
  const title = 'Upstreams'
  const main = html`<div class="wide page"><h1>${title}</h1>
<ul class="rows">${names.map(name => html`<li><a href="${to(account.upstream(name))}">${name}</a></li>`)}</ul></div>`
  return layout(site, { path: null, title, main })
}

/** Renders what an upstream is, how fresh it is, its alarms, and how a crate's versions are shown. */
export function upstreamPage(site: SiteConfig, data: UpstreamData): string {
  const { viewer, notice, settings, crate } = data
  const to = linker(site, null)
  const title = `Upstream ${settings.name}`
  const [own, admin] = [account.upstream(settings.name), account.upstreamAdmin(settings.name)]
  const path = viewer ? admin : own
  const body = html`<p class="lead">The crates of <code>${settings.index}</code>, served here at <code>sparse+${site.base}/${own}index/</code>.</p>
${rules(data)}
<section class="part"><h2>Freshness</h2>${freshness(data)}</section>
<section class="part"><h2>Alarms</h2>${alarms(data, to, path)}</section>
<section class="part"><h2>How a crate is shown</h2>
<form class="form row" method="get" action="${to(path)}"><label class="field"><span>Name of a crate</span><input type="search" name="crate" value="${crate}" autocapitalize="off" spellcheck="false"></label><button class="button">Show</button></form>
${versions(data, to)}</section>`
  if (viewer) return accountPage(site, viewer, { path, title, notice, body })
  const main = html`<div class="wide page"><h1>${title}</h1>
${noticeBox(notice)}
${body}
<p class="quiet part">Administrators <a href="${to(admin)}?crate=${encodeURIComponent(crate)}">allow held versions and accept changes</a>.</p></div>`
  return layout(site, { path: null, title, main, feed: account.upstreamFeed(settings.name) })
}

/** Returns the alarms of an upstream as entries of a feed. */
export function alarmEntries(upstream: string, alarms: readonly Alarm[]) {
  return alarms.map(alarm => ({
    id: `${account.upstreamFeed(upstream)}#${specOf(alarm)}/${alarm.at}`,
    page: `${account.upstream(upstream)}?crate=${alarm.name}`,
    title: `${specOf(alarm)} ${ALARMS[alarm.kind]}`,
    at: alarm.at,
    author: null,
    summary: null,
  }))
}

const ADVISED = {
  warn: 'shown, and nothing is denied',
  vulnerable: 'deny what is vulnerable',
  unsound: 'deny what is vulnerable or unsound',
  unmaintained: 'deny what is vulnerable, unsound or unmaintained',
} as const

function rules({ settings, unmatched }: UpstreamData): Markup {
  const { fallback, hold, allow, deny, lure_guard: isGuarded, offline } = settings
  const { deny_advisories: advised } = settings
  const codes = (texts: readonly string[]) => join(texts.map(text => html`<code>${text}</code>`))
  return termList([
    ['Names that are not here', FALLBACKS[fallback]],
    ['Held', hold === 0 ? 'nothing' : `versions younger than ${inUnits(hold, DURATIONS)}`],
    allow.length > 0 && ['Never held, nor denied by an advisory', codes(allow)],
    deny.length > 0 && ['Denied', codes(deny)],
    advised !== 'off' && ['Advisories', ADVISED[advised]],
    unmatched.length > 0 && ['Rules that match no version known here', codes(unmatched)],
    isGuarded && ['Yanks around a held release', 'not shown for 24 hours'],
    offline && ['Offline', 'it is never asked; only what is kept here is shown'],
  ])
}

function freshness({ viewer, settings: { fresh }, counts }: UpstreamData): Markup {
  const { hits, misses, bytes, answered, failure } = counts
  const time = answered !== null && html`${exactTimeTag(timestamp(new Date(answered)))} UTC`
  const sums = `${counted(hits, 'answer')} from here, ${counted(misses, 'request')} there, ${formatBytes(bytes)} of crates fetched`
  return termList([
    ['Confirmed', fresh === 0 ? 'each time' : `when older than ${inUnits(fresh, DURATIONS)}`],
    ['Last answer', time || 'none since the start'],
    failure !== null && ['Last request', viewer ? `failed: ${failure}` : 'failed'],
    ['Since the start', sums],
  ])
}

function alarms(data: UpstreamData, to: Linker, path: string): Markup {
  const row = (alarm: Alarm) => html`<li class="row-with-action"><div>
<div class="row-head"><span><a href="${to(path)}?crate=${alarm.name}"><strong>${specOf(alarm)}</strong></a> ${ALARMS[alarm.kind]}</span></div>
<div class="row-more">since ${exactTimeTag(alarm.at)} UTC · ${messageText(`\`plimsoll upstream accept ${specOf(alarm)} --upstream ${data.settings.name}\` or an administrator's page accepts it`)}</div></div>
${button(data, to, 'accept', alarm)}</li>
`
  const { length } = data.alarms
  const more = length < ALARMS_SHOWN ? null : `Only the first ${length} are shown.`
  return html`<ul class="rows">${data.alarms.map(row)}</ul>
<p class="quiet">${length === 0 ? 'None.' : more} <a href="${to(account.upstreamFeed(data.settings.name))}">Feed of alarms</a></p>`
}

function versions(data: UpstreamData, to: Linker): Markup {
  const shown = data.versions.slice(-VERSIONS_SHOWN).reverse()
  const row = (version: VersionState) => html`<li class="row-with-action">
<div class="row-head"><span>${messageText(sentenceOf(version))}${version.allowed ? ' (allowed by an administrator)' : null}</span></div>
<div class="actions">${version.mayAllow && button(data, to, 'allow', version)}${version.allowed && button(data, to, 'hold', version)}${version.changed && button(data, to, 'accept', version)}</div></li>
`
  return html`<ul class="rows">${shown.map(row)}</ul>
${shown.length < data.versions.length ? html`<p class="quiet">The newest ${shown.length} of ${data.versions.length} versions are shown.</p>` : null}`
}

/** Renders the link to an administrator's decision; null for readers. */
function button(
  { viewer, settings }: UpstreamData,
  to: Linker,
  action: keyof typeof BUTTONS,
  { name: crate, version }: { readonly name: string; readonly version: string },
): Markup | null {
  const text = BUTTONS[action]
  const path = to(`${account.upstreamAdmin(settings.name)}/${action}`)
  const label = `${text}: ${specOf({ name: crate, version })}`
  return viewer && askLink(`${path}?${new URLSearchParams({ crate, version })}`, text, label)
}
