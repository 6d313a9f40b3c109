import { formatBytes, formatNumber } from '../../core/quantity.ts'
import { DURATIONS, inUnits } from '../../core/settings/kind.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import { type Alarm, ANY_VERSION } from '../../core/upstream/crate.ts'
import { sentenceOf, type VersionState } from '../../core/upstream/explain.ts'
import { exactTimeTag, messageText } from '../elements/elements.ts'
import { account, type Linker, linker, upstreamPath } from '../elements/links.ts'
import { type Child, html, join, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, buttonForm, facts, type Notice, noticeBox, type Viewer } from './frame.ts'

export interface UpstreamData {
  /** An administrator; null for readers, who see no buttons and not why a request failed. */
  readonly viewer: Viewer | null
  readonly notice: Notice | null
  readonly settings: UpstreamSettings
  /** When it last answered since the start of the daemon; null if it has not. */
  readonly answered: string | null
  /** Why the last request failed; null if it did not. */
  readonly failure: string | null
  /** Answers from here, requests to the upstream and bytes from there, since the start. */
  readonly counts: { readonly hits: number; readonly misses: number; readonly bytes: number }
  readonly alarms: readonly Alarm[]
  /** The most alarms that are shown. */
  readonly most: number
  /** The crate that was asked for; empty for none. */
  readonly crate: string
  /** Its newest versions, the newest first, and how many there are. */
  readonly versions: readonly UpstreamVersion[]
  readonly total: number
}

/** A version; `allowed`: an administrator has exempted it from the hold. */
export type UpstreamVersion = VersionState & { readonly allowed: boolean }

const FALLBACKS = {
  off: 'not asked for here: it has an address of its own',
  redirect: 'looked for there, by redirects',
  serve: 'served from here, by these rules',
}

const ALARMS: Readonly<Record<Alarm['kind'], readonly [what: string, advice: string]>> = {
  checksum: ['has other bytes there now; the first ones stay here', 'Compare both.'],
  line: ['has another index line there now; the first one stays here', 'Compare both.'],
  gone: ['is not there any more; it is shown as yanked', 'Find out why it was removed.'],
  lure: ['is held, and all others were yanked around its release', 'Do not allow it unseen.'],
  name: ['is a crate of this registry, and of the upstream', 'Find out who published it there.'],
}

/** Renders the list of upstreams. */
export function upstreamsPage(site: SiteConfig, names: readonly string[]): string {
  const to = linker(site, null)
  const title = 'Upstreams'
  const main = html`<div class="wide page"><h1>${title}</h1>
<p class="lead">Other registries whose crates come through this one.</p>
<ul class="rows">${names.map(name => html`<li><a href="${to(upstreamPath(name))}">${name}</a></li>`)}</ul></div>`
  return layout(site, { path: null, title, main })
}

/** Renders what an upstream is, how fresh it is, its alarms, and how a crate's versions are shown. */
export function upstreamPage(site: SiteConfig, data: UpstreamData): string {
  const { viewer, notice, settings } = data
  const to = linker(site, null)
  const title = `Upstream ${settings.name}`
  const path = viewer ? account.upstream(settings.name) : upstreamPath(settings.name)
  const body = html`<p class="lead">Another registry, whose crates come through this one.</p>
${facts(rules(site, settings))}
<section class="part"><h2>Freshness</h2>${facts(freshness(data))}</section>
<section class="part"><h2>Alarms</h2>${alarms(data, to, path)}</section>
<section class="part"><h2>How a crate is shown</h2>
<form class="form row" method="get" action="${to(path)}"><label class="field"><span>Name of a crate</span><input type="search" name="crate" value="${data.crate}" autocapitalize="off" spellcheck="false"></label><button class="button">Show</button></form>
${versions(data, to)}</section>`
  if (viewer) return accountPage(site, viewer, { path, title, notice, body })
  const admin = html`<p class="quiet part">Administrators <a href="${to(account.upstream(settings.name))}?crate=${encodeURIComponent(data.crate)}">allow held versions and accept changes</a>.</p>`
  const main = html`<div class="wide page"><h1>${title}</h1>
${noticeBox(notice)}
${body}
${admin}</div>`
  return layout(site, { path: null, title, main })
}

type Fact = readonly [term: string, value: Child]

function rules({ base }: SiteConfig, settings: UpstreamSettings): Fact[] {
  const { name, index, fallback, hold, allow, deny, lure_guard: isGuarded, offline } = settings
  const codes = (texts: readonly string[]) => join(texts.map(text => html`<code>${text}</code>`))
  const facts: (Fact | false)[] = [
    ['Index', html`<code>${index}</code>`],
    ['Address here', html`<code>sparse+${base}/${upstreamPath(name)}index/</code>`],
    ['Names that are not here', FALLBACKS[fallback]],
    ['Held', hold === 0 ? 'nothing' : `versions younger than ${inUnits(hold, DURATIONS)}`],
    allow.length > 0 && ['Never held', codes(allow)],
    deny.length > 0 && ['Denied', codes(deny)],
    isGuarded && ['Yanks around a held release', 'not shown for 24 hours'],
    offline && ['Offline', 'it is never asked; only what is kept here is shown'],
  ]
  return facts.filter(fact => fact !== false)
}

function freshness({ viewer, settings, answered, failure, counts }: UpstreamData): Fact[] {
  const { hits, misses, bytes } = counts
  const { fresh } = settings
  return [
    ['Confirmed', fresh === 0 ? 'each time' : `when older than ${inUnits(fresh, DURATIONS)}`],
    [
      'Last answer',
      answered === null ? 'none since the start' : html`${exactTimeTag(answered)} UTC`,
    ],
    ...(failure === null
      ? []
      : [['Last request', viewer ? `failed: ${failure}` : 'failed'] as const]),
    ['Answers from here', formatNumber(hits)],
    ['Requests there', formatNumber(misses)],
    ['Fetched', formatBytes(bytes)],
  ]
}

function alarms(
  { viewer, settings, alarms, most }: UpstreamData,
  to: Linker,
  path: string,
): Markup {
  if (alarms.length === 0) return html`<p class="quiet">None.</p>`
  const row = ({ kind, name, version, at }: Alarm) => {
    const spec = version === ANY_VERSION ? name : `${name}@${version}`
    const [what, advice] = ALARMS[kind]
    return html`<li class="row-with-action"><div><div class="row-head"><a href="${to(path)}?crate=${name}"><strong>${spec}</strong></a> ${what}</div>
<div class="row-more">since ${exactTimeTag(at)} UTC · ${advice} ${messageText(`\`plimsoll upstream accept ${spec}\` or an administrator's page accepts it.`)}</div></div>
${viewer && actions(viewer, settings.name, to)('accept', 'Accept', name, version)}</li>
`
  }
  return html`<ul class="rows">${alarms.map(row)}</ul>
${alarms.length < most ? null : html`<p class="quiet">Only ${most} are shown.</p>`}`
}

function versions({ viewer, settings, crate, versions, total }: UpstreamData, to: Linker): Markup {
  const row = (state: UpstreamVersion) => {
    const { name, version, changed, allowed } = state
    const button = viewer && actions(viewer, settings.name, to)
    return html`<li class="row-with-action"><div class="row-head">${messageText(sentenceOf(state))}${allowed ? ' (allowed by an administrator)' : null}</div>
${button && html`<div class="actions">${state.state === 'held' ? button('allow', 'Allow', name, version) : null}${allowed ? button('hold', 'Hold again', name, version) : null}${changed ? button('accept', 'Accept', name, version) : null}</div>`}</li>
`
  }
  return html`<ul class="rows">${versions.map(row)}</ul>
${versions.length < total ? html`<p class="quiet">The newest ${versions.length} of ${total} versions of ${crate} are shown.</p>` : null}`
}

/** Returns what renders the button of an action on a version. */
function actions(viewer: Viewer, upstream: string, to: Linker) {
  return (
    action: Parameters<typeof account.changeUpstream>[1],
    text: string,
    crate: string,
    version: string,
  ): Markup =>
    buttonForm(viewer, to(account.changeUpstream(upstream, action)), text, {
      crate,
      version,
      label: `${text}: ${crate} ${version === ANY_VERSION ? '' : version}`.trim(),
    })
}
