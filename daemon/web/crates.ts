import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { newestFirst, parseVersion } from '../../core/version.ts'
import {
  addOwners,
  inviteOwners,
  listInvitations,
  removeOwners,
} from '../../generator/accounts/ownership.ts'
import { type CrateRecord, findCrate } from '../../generator/records/crates.ts'
import { isOwner, listOwners, requireOwner } from '../../generator/records/owners.ts'
import { findRelease, listVersions } from '../../generator/records/releases.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import { listDeprecations, setDeprecated } from '../../generator/registry/changes/deprecation.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { isTrustedOnly, listRules, ruleText } from '../../generator/trust/rules.ts'
import { dropRule } from '../../generator/trust/rules-changes.ts'
import type { Notice } from '../../site/account/frame.ts'
import { managePage } from '../../site/account/manage-page.ts'
import { account } from '../../site/elements/links.ts'
import { crateOf, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { recordSubject } from '../http/log.ts'
import { page } from '../http/page.ts'
import { ask, attempt, noticeOf, type Outcome, redirectDone, viewerOf } from './notice.ts'
import { askTrust, changeTrust, ruleRows } from './trust-form.ts'

interface CrateRequest extends Deps {
  readonly c: Context
  readonly request: SessionRequest
  readonly crate: CrateRecord
  readonly path: string
}

/** Finds the crate of the path; admits only its owners and administrators. */
function managed(handle: (to: CrateRequest) => Promise<Response>) {
  return async (deps: Deps, c: Context, request: SessionRequest) => {
    const crate = await crateOf(deps.registry, c, findCrate)
    await requireOwner(deps.registry.database, crate, request.change)
    return handle({ ...deps, c, request, crate, path: `/me/crates/${crate.name}` })
  }
}

/** `GET /me/crates/{name}`: the page where owners manage a crate. */
export const manage = managed(to => showCrate(to, { notice: noticeOf(to.c, to.registry) }))

/** `GET …/yank?version=…` and `GET …/unyank?version=…`: asks for confirmation. */
export const confirmYank = (yanked: boolean) =>
  managed(async ({ registry, c, request, crate }) => {
    const version = parseVersion(c.req.query('version') ?? '')
    if (!(await findRelease(registry.database, crate.id, version)))
      refuse('release_unknown', { name: crate.name, version })
    const rest = { back: account.crate(crate.name), fields: { version } }
    return ask(c, registry, request, yanked ? 'yank' : 'unyank', [crate.name, version], rest)
  })

/** `POST …/yank` and `POST …/unyank`: changes the records by the same rules as the API. */
export const postYank = (yanked: boolean) =>
  managed(async ({ registry, indexWorker, git, c, request, crate, path }) => {
    const version = parseVersion(request.form.get('version') ?? '')
    recordSubject(c, { version })
    const reason = request.form.get('reason')?.trim() || undefined
    const to = { yanked, reason }
    const { crateId } = await setYanked(registry, crate.name, version, to, request.change)
    await indexWorker.crate(crateId)
    git?.wake()
    const done = yanked ? 'version-yanked' : 'version-unyanked'
    return redirectDone(c, registry, path, done, crate.name, version)
  })

/** `POST …/deprecate`: says of versions that they are deprecated; without a reason, takes it back. */
export const postDeprecation = managed(to => {
  const { registry, c, request, crate } = to
  const text = (name: string) => request.form.get(name)?.trim() ?? ''
  const work = async () => {
    const spec = `${crate.name}@${text('requirement') || '*'}`
    const isUndone = request.form.get('undo') === '1'
    const said = isUndone ? null : { reason: text('reason'), use: text('use') || null }
    await setDeprecated(registry, spec, said, request.change)
    to.indexWorker.pages.wake()
    return redirectDone(c, registry, to.path, isUndone ? 'undeprecated' : 'deprecated', spec)
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

/** `POST …/owners/add`: adds or invites an owner, depending on the setting `owners.add`. */
export const postOwner = managed(to => {
  const { registry, c, request, crate } = to
  const login = request.form.get('login')?.trim() ?? ''
  const isInvite = registry.settings.owners.add === 'invite'
  const work = async () => {
    if (login === '') refuse('owner_no_user', { login, name: crate.name })
    const add = isInvite ? inviteOwners : addOwners
    const { changed, unchanged } = await add(registry, crate, [login], request.change)
    const [owner = login] = [...changed, ...unchanged]
    to.indexWorker.pages.wake()
    const isInvited = isInvite && changed.length > 0
    const done = isInvited ? 'owner-invited' : 'owner-added'
    return redirectDone(c, registry, to.path, done, crate.name, owner)
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

/** `GET …/owners/remove?login=…`: asks for confirmation. */
export const confirmRemoval = managed(async ({ registry, c, request, crate }) => {
  const login = c.req.query('login') ?? ''
  const isOne = (row: { readonly login: string }) => row.login === login
  const isOwner = (await listOwners(registry.database, crate.id)).some(isOne)
  if (!isOwner && !(await invitedTo(registry, crate, request)).some(isOne))
    refuse('owner_unknown', { login, name: crate.name })
  const about = isOwner ? 'remove-owner' : 'withdraw'
  const rules = (await rulesBy(registry, crate, login)).map(ruleText)
  const rest = { back: account.crate(crate.name), fields: { login }, rules }
  return ask(c, registry, request, about, [crate.name, login], rest)
})

/** `POST …/owners/remove`. A user who removed themselves is sent to `/me`. */
export const postRemoval = managed(to => {
  const { registry, c, request, crate } = to
  const { user } = request.session
  const work = async () => {
    const login = request.form.get('login') ?? ''
    const rules = await rulesBy(registry, crate, login)
    const isWhole = request.form.get('rules') === 'remove'
    // First, because who removes themselves may not do it afterwards.
    for (const { id } of isWhole ? rules : []) await dropRule(registry.database, id, request.change)
    const { changed } = await removeOwners(registry, crate, [login], request.change)
    to.indexWorker.pages.wake()
    const at = timestamp(request.now)
    const stays = user.admin || (await isOwner(registry.database, crate.id, user.id, at))
    const path = stays ? to.path : '/me'
    return redirectDone(c, registry, path, 'owner-removed', crate.name, ...changed)
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

function rulesBy({ database }: Registry, { id }: CrateRecord, login: string) {
  return listRules(database, { crateIds: [id], writers: [login] })
}

function invitedTo({ database, settings }: Registry, crate: CrateRecord, { now }: SessionRequest) {
  const time = { now, seconds: settings.owners.invitation_seconds }
  return listInvitations(database, { crateId: crate.id }, time)
}

/** `GET …/trust/{remove,only}`: asks before jobs publish otherwise. */
export const askCrateTrust = managed(to => askTrust({ ...to, crate: to.crate.name }))

/** `POST …/trust/{add,remove,only}`: changes which jobs publish the crate. */
export const postCrateTrust = managed(to =>
  attempt(
    to.c,
    () => changeTrust({ ...to, crate: to.crate.name }),
    refused => showCrate(to, refused),
  ),
)

async function showCrate(
  { registry, c, request, crate }: CrateRequest,
  { notice = null, status }: Outcome<{ readonly notice: Notice | null }>,
): Promise<Response> {
  const { database, settings, site } = registry
  const [rules, only, deprecations, releases, owners, invited] = await Promise.all([
    listRules(database, { crateIds: [crate.id] }),
    isTrustedOnly(database, crate.name),
    listDeprecations(database, crate.id),
    listVersions(database, crate.id),
    listOwners(database, crate.id),
    invitedTo(registry, crate, request),
  ])
  const versions = newestFirst(releases)
  const trust = { rules: ruleRows(rules), issuers: Object.keys(settings.issuer), only }
  const viewer = viewerOf(request)
  const data = {
    ...{ viewer, notice, name: crate.name, versions, deprecations, owners, invited, trust },
  }
  return page(c, site, managePage(site, data), status)
}
