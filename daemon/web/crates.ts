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
import { findCard } from '../../generator/records/pages/cards.ts'
import { findRelease, listVersions } from '../../generator/records/releases.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import { listDeprecations, setDeprecated } from '../../generator/registry/changes/deprecation.ts'
import { dropRule, listRules, rulesOfWriters, ruleText } from '../../generator/trust/rules.ts'
import type { Notice } from '../../site/account/frame.ts'
import { confirmPage, managePage } from '../../site/account/manage-page.ts'
import { crateOf, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { recordSubject } from '../http/log.ts'
import { page } from '../http/page.ts'
import { attempt, noticeOf, type Outcome, redirectDone, viewerOf } from './notice.ts'
import { changeTrust, ruleRows } from './trust-form.ts'

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
export const manage = managed(to => showCrate(to, { notice: noticeOf(to.c) }))

/** `GET …/yank?version=…` and `GET …/unyank?version=…`: asks for confirmation. */
export const confirmYank = (yanked: boolean) =>
  managed(async ({ registry, c, request, crate }) => {
    const { database, site } = registry
    const version = parseVersion(c.req.query('version') ?? '')
    if (!(await findRelease(database, crate.id, version)))
      refuse('release_unknown', { name: crate.name, version })
    const step = { action: yanked ? 'yank' : 'unyank', version } as const
    return page(c, site, confirmPage(site, viewerOf(request), crate.name, step))
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
    return redirectDone(c, registry, path, yanked ? 'version-yanked' : 'version-unyanked')
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
    return redirectDone(c, registry, to.path, isUndone ? 'undeprecated' : 'deprecated')
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
    const { changed } = await add(registry, crate, [login], request.change)
    to.indexWorker.pages.wake()
    const isInvited = isInvite && changed.length > 0
    return redirectDone(c, registry, to.path, isInvited ? 'owner-invited' : 'owner-added')
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

/** `GET …/owners/remove?login=…`: asks for confirmation. */
export const confirmRemoval = managed(async ({ registry, c, request, crate }) => {
  const { database, site } = registry
  const login = c.req.query('login') ?? ''
  const owners = await listOwners(database, crate.id)
  if (!owners.some(owner => owner.login === login))
    refuse('owner_unknown', { login, name: crate.name })
  const rules = await rulesOfWriters(database, crate.id, [login])
  const step = { action: 'remove-owner', login, rules: rules.map(ruleText) } as const
  return page(c, site, confirmPage(site, viewerOf(request), crate.name, step))
})

/** `POST …/owners/remove`. A user who removed themselves is sent to `/me`. */
export const postRemoval = managed(to => {
  const { registry, c, request, crate } = to
  const { user } = request.session
  const work = async () => {
    const login = request.form.get('login') ?? ''
    const rules = await rulesOfWriters(registry.database, crate.id, [login])
    const isWhole = request.form.get('rules') === 'remove'
    // First, because who removes themselves may not do it afterwards.
    for (const { id } of isWhole ? rules : []) await dropRule(registry.database, id, request.change)
    await removeOwners(registry, crate, [login], request.change)
    to.indexWorker.pages.wake()
    const stays =
      user.admin || (await isOwner(registry.database, crate.id, user.id, timestamp(request.now)))
    return redirectDone(c, registry, stays ? to.path : '/me', 'owner-removed')
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

/** `POST …/trust/{add,remove,only}`: changes which jobs publish the crate. */
export const postCrateTrust = managed(to => {
  const { registry, c, request, crate } = to
  const work = async () => {
    const deed = await changeTrust(registry, request, c.req.param('action'), crate.name)
    return redirectDone(c, registry, to.path, deed)
  }
  return attempt(c, work, refused => showCrate(to, refused))
})

async function showCrate(
  { registry, c, request, crate }: CrateRequest,
  { notice = null, status }: Outcome<{ readonly notice: Notice | null }>,
): Promise<Response> {
  const { database, settings, site } = registry
  const time = { now: request.now, seconds: settings.owners.invitation_seconds }
  const [rules, card, deprecations, releases, owners, invited] = await Promise.all([
    listRules(database, { crateIds: [crate.id] }),
    findCard(database, crate.name),
    listDeprecations(database, crate.id),
    listVersions(database, crate.id),
    listOwners(database, crate.id),
    listInvitations(database, { crateId: crate.id }, time),
  ])
  const versions = newestFirst(releases)
  const trust = {
    rules: ruleRows(rules),
    issuers: Object.keys(settings.issuer),
    only: card?.trustedOnly === 1,
  }
  const viewer = viewerOf(request)
  const data = {
    ...{ viewer, notice, name: crate.name, versions, deprecations, owners, invited, trust },
  }
  return page(c, site, managePage(site, data), status)
}
