import { timeTag } from '../elements/elements.ts'
import { account, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, askLink, field, type Notice, postForm, type Viewer } from './frame.ts'

/** A rule as pages show it. */
export interface RuleRow {
  readonly id: number
  readonly crate: string
  readonly issuer: string
  /** Such as `repository=acme/demo`. */
  readonly claims: readonly string[]
  readonly owner: string | null
  readonly used: string | null
}

export interface TrustData {
  readonly rules: readonly RuleRow[]
  /** The names of the issuers in the settings; without any, there is no form. */
  readonly issuers: readonly string[]
  /** Whether the versions of the crate come from CI only; patterns on the page of administrators. */
  readonly only: boolean | readonly string[]
}

/** Renders which jobs publish, and the forms to change that, which post below `path`. */
export function trustSection(
  site: SiteConfig,
  viewer: Viewer,
  path: string,
  { rules, issuers, only }: TrustData,
): Markup {
  const to = linker(site, null)
  const isOfAll = typeof only !== 'boolean'
  const crate = (label: string) =>
    field(label, html`<input name="crate" required placeholder="acme-*" autocapitalize="off">`)
  const options = issuers.map(issuer => html`<option>${issuer}</option>`)
  const reads = site.private
    ? html` A job that publishes reads the whole registry for its 30 minutes.`
    : null
  const form = html`${isOfAll ? html`${crate('Crate that is not there yet, or prefix and *')}${field('First owner', html`<input name="owner" required autocapitalize="off">`, 'A login, or group:NAME.')}` : null}
${field('Issuer', html`<select name="issuer">${options}</select>`)}
${field('Claims', html`<textarea name="claims" rows="4" required placeholder="repository=acme/demo&#10;workflow=release.yml&#10;environment=release"></textarea>`, 'One on a line. A repeated name means any of its values.')}
<button class="button">Add</button>`
  const switches = isOfAll
    ? html`<h3>Only from CI</h3><ul class="rows">${only.map(pattern => onlyRow(to(`${path}/only`), pattern))}</ul>
<form class="form" method="get" action="${to(`${path}/only`)}">${crate('Crate, or prefix and *')}<button class="button">Only from CI</button></form>`
    : html`<p><a class="button small" href="${to(`${path}/only`)}${only ? '?off=1' : ''}">${only ? 'Let owners publish versions, too' : 'Let only CI publish versions'}</a></p>`
  return html`<section class="part"><h2>${isOfAll ? 'Rules' : 'Publishing from CI'}</h2>
<p class="quiet">Jobs of a CI system publish without a stored token, by rules on what their own tokens say.${reads}</p>
<ul class="rows">${rules.map(rule => ruleRow(to(`${path}/remove`), rule, isOfAll))}</ul>
${issuers.length === 0 ? html`<p class="quiet">The settings name no issuer.</p>` : postForm(viewer, to(`${path}/add`), form)}
${switches}
</section>`
}

function ruleRow(path: string, rule: RuleRow, isOfAll: boolean): Markup {
  const { id, crate, issuer, claims, owner, used } = rule
  const isWider = !isOfAll && crate.endsWith('*')
  const whose = owner === null ? null : html` · new crates belong to ${owner}`
  return html`<li class="row-with-action"><div>Rule ${id}${isOfAll || isWider ? html` for <strong>${crate}</strong>` : null}: ${issuer} ${claims.map(claim => html`<code>${claim}</code> `)}
<div class="row-more">${used === null ? 'never used; it ends after 30 days' : html`last used ${timeTag(used)}`}${whose}</div></div>
${isWider ? html`<span class="quiet small">Administrators may remove it.</span>` : askLink(`${path}?id=${id}`, 'Remove', `Remove rule ${id}`)}</li>
`
}

function onlyRow(path: string, pattern: string): Markup {
  const [text, label] = ['Let owners publish, too', `Let owners publish, too: ${pattern}`]
  const query = new URLSearchParams({ crate: pattern, off: '1' })
  return html`<li class="row-with-action"><div>${pattern}</div>${askLink(`${path}?${query}`, text, label)}</li>
`
}

/** Renders the page of administrators: rules for names and prefixes, and for crates. */
export function trustPage(
  site: SiteConfig,
  viewer: Viewer,
  data: TrustData & { readonly notice: Notice | null; readonly next: number | null },
): string {
  const path = account.trust
  const more =
    data.next === null
      ? null
      : html`<p><a href="${linker(site, null)(path)}?after=${data.next}">More rules</a></p>`
  const body = html`${trustSection(site, viewer, path, data)}${more}`
  return accountPage(site, viewer, { path, title: 'Publishing from CI', ...data, body })
}
