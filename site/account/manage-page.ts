import type { Deprecation } from '../../core/notes/notes.ts'
import { cratePath, versionPath } from '../../core/paths/crates.ts'
import type { OwnerRow, VersionRow } from '../crate-data.ts'
import { timeTag } from '../elements/elements.ts'
import { account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, buttonForm, field, type Notice, postForm, type Viewer } from './frame.ts'
import type { Invitation } from './home-page.ts'
import { type TrustData, trustSection } from './trust-page.ts'

export interface ManageData {
  readonly viewer: Viewer
  readonly notice: Notice | null
  readonly name: string
  readonly versions: readonly Pick<VersionRow, 'version' | 'publishedAt' | 'yanked'>[]
  readonly deprecations: readonly Deprecation[]
  readonly owners: readonly OwnerRow[]
  readonly invited: readonly InvitedOwner[]
  readonly trust: TrustData
}

type InvitedOwner = Omit<Invitation, 'crate'> & { readonly login: string }

type Confirmation =
  | { readonly action: 'yank' | 'unyank'; readonly version: string }
  | { readonly action: 'remove-owner'; readonly login: string; readonly rules: readonly string[] }

/** Renders the page where an owner yanks versions and changes owners. */
export function managePage(site: SiteConfig, data: ManageData): string {
  const { viewer, name } = data
  const path = account.crate(name)
  const to = linker(site, null)
  const body = html`<p class="lead"><a href="${to(cratePath(name))}">View crate</a></p>
<section class="part"><h2>Owners</h2>
<ul class="rows">${data.owners.map(owner => ownerRow(data, owner, to))}${data.invited.map(invited => invitedRow(data, invited, to))}</ul>
${postForm(viewer, to(account.addOwner(name)), html`${field('Add an owner', html`<input name="login" autocapitalize="off" required placeholder="username">`)}<button class="button">Add</button>`)}
</section>
${trustSection(site, viewer, account.crateTrust(name), data.trust)}
<section class="part" id="deprecation"><h2>Deprecation</h2>
<p class="quiet">Pages say it, and whoever publishes something that depends on it is warned. Builds go on.</p>
<ul class="rows">${data.deprecations.map(row => deprecationRow(data, row, to))}</ul>
${postForm(viewer, to(account.deprecate(name)), html`${field('Reason', html`<input name="reason" required maxlength="500">`)}${field('Use instead', html`<input name="use" autocapitalize="off">`, 'A crate or an https address.')}${field('Versions', html`<input name="requirement" placeholder="all">`, 'Such as <2.')}<button class="button">Deprecate</button>`)}
</section>
<section class="part"><h2>Versions</h2>
<p class="quiet">Cargo uses a yanked version only where a <code>Cargo.lock</code> already names it. Yanking deletes nothing and can be undone.</p>
<ul class="rows">${data.versions.map(row => versionRow(name, row, to))}</ul>
</section>`
  return accountPage(site, viewer, { path, title: `Manage ${name}`, notice: data.notice, body })
}

/** Renders a page that asks for confirmation; it works without JavaScript. */
export function confirmPage(
  site: SiteConfig,
  viewer: Viewer,
  name: string,
  step: Confirmation,
): string {
  const { title, text, button, path, fields } = question(name, step)
  const to = linker(site, null)
  const rules = 'rules' in step ? step.rules : []
  const stay = html`<p>They wrote rules by which jobs publish, and which stay:</p>
<ul>${rules.map(rule => html`<li>${rule}</li>`)}</ul>`
  const also = buttonForm(viewer, to(path), `${button} and these rules`, {
    ...fields,
    rules: 'remove',
  })
  const isRuled = rules.length > 0
  const why = field('Reason', html`<input name="reason" maxlength="500">`, 'Shown on its pages.')
  const hidden = html`<input type="hidden" name="version" value="${fields.version ?? ''}">`
  const send = html`${hidden}${why}<button class="button">${button}</button>`
  const yank = postForm(viewer, to(path), send)
  const body = html`<p class="lead">${text}</p>${isRuled ? stay : null}
<div class="actions">${step.action === 'yank' ? yank : buttonForm(viewer, to(path), button, fields)}${isRuled ? also : null}<a href="${to(account.crate(name))}">Cancel</a></div>`
  return accountPage(site, viewer, { path, title, body })
}

function question(name: string, step: Confirmation) {
  if (step.action === 'remove-owner')
    return {
      title: `Remove ${step.login}?`,
      text: `${step.login} will no longer be able to publish or yank versions of ${name}.`,
      button: `Remove ${step.login}`,
      path: account.removeOwner(name),
      fields: { login: step.login },
    }
  const { action, version } = step
  const word = action === 'yank' ? 'Yank' : 'Unyank'
  const texts = {
    yank: 'no longer choose this version. Builds whose Cargo.lock names it keep working.',
    unyank: 'choose this version again.',
  }
  return {
    title: `${word} ${name} ${version}?`,
    text: `New builds will ${texts[action]}`,
    button: `${word} ${version}`,
    path: account[action](name),
    fields: { version },
  }
}

/** Renders a version; its button leads to the confirmation, whose form posts to the same path. */
function versionRow(name: string, row: ManageData['versions'][number], to: Linker): Markup {
  const [word, path] = row.yanked ? ['Unyank', account.unyank(name)] : ['Yank', account.yank(name)]
  return html`<li class="row-with-action"><div><a href="${to(versionPath(name, row.version))}">${row.version}</a>${row.yanked ? html` <span class="badge bad">yanked</span>` : null} <span class="quiet">${timeTag(row.publishedAt)}</span></div>
<a class="button small" href="${to(path)}?version=${encodeURIComponent(row.version)}" aria-label="${word} ${row.version}">${word}</a></li>
`
}

function deprecationRow({ viewer, name }: ManageData, row: Deprecation, to: Linker): Markup {
  const { requirement, reason, use } = row
  const button = buttonForm(viewer, to(account.deprecate(name)), 'Take back', {
    ...{ requirement, undo: '1', label: `Take back the deprecation of ${requirement}` },
  })
  return html`<li class="row-with-action"><div><code>${requirement}</code> ${reason}${use === null ? null : html` <span class="quiet">use ${use}</span>`}</div>
${button}</li>
`
}

function ownerRow(data: ManageData, owner: OwnerRow, to: Linker): Markup {
  const { name, owners } = data
  const link = html`<a class="button small" href="${to(account.removeOwner(name))}?login=${encodeURIComponent(owner.login)}" aria-label="Remove ${owner.login}">Remove</a>`
  return html`<li class="row-with-action"><div>${owner.login}${owner.name === null ? null : html` <span class="quiet">${owner.name}</span>`}</div>
${owners.length === 1 ? html`<span class="quiet small">Add another owner before removing ${owner.login}.</span>` : link}</li>
`
}

/** Renders an invitation. Withdrawing it loses nothing, so it needs no confirmation. */
function invitedRow(
  { viewer, name }: ManageData,
  { login, by, at, expires }: InvitedOwner,
  to: Linker,
): Markup {
  const button = buttonForm(viewer, to(account.removeOwner(name)), 'Withdraw', {
    login,
    label: `Withdraw the invitation of ${login}`,
  })
  return html`<li class="row-with-action"><div>${login} <span class="quiet">invited by ${by}, ${timeTag(at)} · expires ${timeTag(expires)}</span></div>
${button}</li>
`
}
