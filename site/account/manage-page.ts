import type { Deprecation } from '../../core/notes/notes.ts'
import { cratePath, versionPath } from '../../core/paths/crates.ts'
import type { OwnerRow, VersionRow } from '../crate-data.ts'
import { dateTag, timeTag } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, askLink, field, type Notice, postForm, type Viewer } from './frame.ts'
import type { Invitation } from './home-page.ts'
import { type TrustData, trustSection } from './trust-page.ts'

export interface ManageData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  readonly name: string
  readonly versions: readonly Managed[]
  readonly deprecations: readonly Deprecation[]
  readonly owners: readonly OwnerRow[]
  readonly invited: readonly InvitedOwner[]
  readonly trust: TrustData
}

type Managed = Pick<VersionRow, 'version' | 'publishedAt' | 'yanked' | 'yankReason'>

type InvitedOwner = Omit<Invitation, 'crate'> & { readonly login: string }

/** Renders the page where an owner yanks versions and changes owners. */
export function managePage(site: SiteConfig, data: ManageData): string {
  const { viewer, name } = data
  const path = account.crate(name)
  const to = linker(site, null)
  const body = html`<p class="lead"><a href="${to(cratePath(name))}">View crate</a></p>
<section class="part"><h2>Owners</h2>
<ul class="rows">${data.owners.map(owner => ownerRow(data, owner, to))}${data.invited.map(invited => invitedRow(data, invited, to))}</ul>
${postForm(viewer, to(account.crateAction(name, 'owners/add')), html`${field('Add an owner', html`<input name="login" autocapitalize="off" required placeholder="username">`)}<button class="button">Add</button>`)}
</section>
${trustSection(site, viewer, account.crateAction(name, 'trust'), data.trust)}
<section class="part" id="deprecation"><h2>Deprecation</h2>
<p class="quiet">Pages say it, and whoever publishes something that depends on it is warned. Builds go on.</p>
<ul class="rows">${data.deprecations.map(row => deprecationRow(data, row, to))}</ul>
${postForm(viewer, to(account.crateAction(name, 'deprecate')), html`${field('Reason', html`<input name="reason" required maxlength="1000">`)}${field('Use instead', html`<input name="use" autocapitalize="off">`, 'Optional: a crate or an https address.')}${field('Versions', html`<input name="requirement" placeholder="all">`, 'Such as <2.')}<button class="button">Deprecate</button>`)}
</section>
<section class="part"><h2>Versions</h2>
<p class="quiet">Cargo uses a yanked version only where a <code>Cargo.lock</code> already names it. Yanking deletes nothing and can be undone.</p>
<ul class="rows">${data.versions.map(row => versionRow(name, row, to))}</ul>
</section>`
  return accountPage(site, viewer, { path, title: `Manage ${name}`, notice: data.notice, body })
}

/** Renders a version; its buttons lead to pages that ask, whose forms post to the same path. */
function versionRow(name: string, row: Managed, to: Linker): Markup {
  const { version, publishedAt, yanked, yankReason = null } = row
  const query = new URLSearchParams({ version })
  const ask = (action: 'yank' | 'unyank', text: string, label: string) =>
    askLink(`${to(account.crateAction(name, action))}?${query}`, text, label)
  const buttons = yanked
    ? html`${ask('yank', 'Reason', `Reason for the yank of ${version}`)}
${ask('unyank', 'Unyank', `Unyank ${version}`)}`
    : ask('yank', 'Yank', `Yank ${version}`)
  return html`<li class="row-with-action"><div><a href="${to(versionPath(name, version))}">${version}</a>${yanked ? html` <span class="badge bad">yanked</span>` : null} <span class="quiet">${timeTag(publishedAt)}</span>${yankReason && html`<br><bdi>${yankReason}</bdi>`}</div>
<div class="actions">${buttons}</div></li>
`
}

function deprecationRow({ name }: ManageData, row: Deprecation, to: Linker): Markup {
  const { requirement, reason, use } = row
  const path = `${to(account.crateAction(name, 'undeprecate'))}?${new URLSearchParams({ requirement })}`
  return html`<li class="row-with-action"><div><code>${requirement}</code> ${reason}${use === null ? null : html` <span class="quiet">use ${use}</span>`}</div>
${askLink(path, 'Take back', `Take back the deprecation of ${requirement}`)}</li>
`
}

function ownerRow(data: ManageData, owner: OwnerRow, to: Linker): Markup {
  const { name, owners } = data
  const path = `${to(account.crateAction(name, 'owners/remove'))}?login=${encodeURIComponent(owner.login)}`
  return html`<li class="row-with-action"><div>${owner.login}${owner.name === null ? null : html` <span class="quiet">${owner.name}</span>`}</div>
${owners.length === 1 ? html`<span class="quiet small">Add another owner before removing ${owner.login}.</span>` : askLink(path, 'Remove', `Remove ${owner.login}`)}</li>
`
}

function invitedRow(
  { name }: ManageData,
  { login, by, at, expires }: InvitedOwner,
  to: Linker,
): Markup {
  const path = `${to(account.crateAction(name, 'owners/remove'))}?login=${encodeURIComponent(login)}`
  return html`<li class="row-with-action"><div>${login} <span class="quiet">invited by ${by}, ${timeTag(at)} · expires ${dateTag(expires)}</span></div>
${askLink(path, 'Withdraw', `Withdraw the invitation of ${login}`)}</li>
`
}
