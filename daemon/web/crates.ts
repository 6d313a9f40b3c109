import type { Context } from 'hono'
import {
  type CrateRecord,
  compareVersions,
  findRelease,
  isOwner,
  listOwners,
  listReleases,
  parseVersion,
  type Registry,
  refuse,
  setYanked,
} from '../../generator/index.ts'
import type { Notice } from '../../site/account/frame.ts'
import { confirmPage, managePage } from '../../site/account/manage-page.ts'
import { changeOf, type SessionRequest } from '../access/browser-request.ts'
import type { SessionHandler } from '../access/route.ts'
import { listInvitations } from '../accounts/invitations.ts'
import { addOwners, inviteOwners, removeOwners, requireOwner } from '../accounts/ownership.ts'
import type { Deps } from '../deps.ts'
import { honestStatus } from '../http/failure.ts'
import { page, redirect } from '../http/page.ts'
import { crateOf } from '../http/parameters.ts'
import { failed, noticeOf, viewerOf, withNotice } from './notice.ts'

/** `GET /me/crates/{name}`: what an owner manages. */
export function manage(deps: Deps): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(deps.registry, c, request)
    return page(c, deps.registry.site, await managed(deps.registry, crate, request, noticeOf(c)))
  }
}

/** `GET …/yank?version=…` and `GET …/unyank?version=…`: asks once more. */
export function confirmYank({ registry }: Deps, yanked: boolean): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(registry, c, request)
    const version = parseVersion(c.req.query('version') ?? '')
    if (!(await findRelease(registry.database, crate.id, version)))
      refuse('release_unknown', { name: crate.name, version })
    const site = registry.site
    const step = { action: yanked ? 'yank' : 'unyank', version } as const
    return page(c, site, confirmPage(site, viewerOf(request), crate.name, step))
  }
}

/** `POST …/yank` and `POST …/unyank`: by the rules of the API, which the catalog keeps. */
export function postYank({ registry, indexWorker, git }: Deps, yanked: boolean): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(registry, c, request)
    const version = parseVersion(request.form.get('version') ?? '')
    const change = changeOf(request, request.session.user)
    const { crateId } = await setYanked(registry.database, crate.name, version, yanked, change)
    await indexWorker.crate(crateId)
    git?.wake()
    return redirect(
      c,
      registry.site,
      withNotice(pathOf(crate), yanked ? 'version-yanked' : 'version-unyanked'),
    )
  }
}

/** `POST …/owners/add`: an owner at once or an invitation, as `owners.add` has it. */
export function postOwner({ registry, indexWorker }: Deps): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(registry, c, request)
    const login = request.form.get('login')?.trim() ?? ''
    const isInvite = registry.settings.owners.add === 'invite'
    const work = isInvite ? inviteOwners : addOwners
    return attempt(registry, c, request, crate, async () => {
      if (login === '') refuse('owner_no_user', { login, name: crate.name })
      await work(registry.database, crate, [login], changeOf(request, request.session.user))
      indexWorker.pages.wake()
      return withNotice(pathOf(crate), isInvite ? 'owner-invited' : 'owner-added')
    })
  }
}

/** `GET …/owners/remove?login=…`: asks once more. */
export function confirmRemoval({ registry }: Deps): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(registry, c, request)
    const login = c.req.query('login') ?? ''
    const owners = await listOwners(registry.database, crate.id)
    if (!owners.some(owner => owner.login === login))
      refuse('owner_unknown', { login, name: crate.name })
    const site = registry.site
    return page(
      c,
      site,
      confirmPage(site, viewerOf(request), crate.name, { action: 'remove-owner', login }),
    )
  }
}

/** `POST …/owners/remove`. Who has removed themselves has nothing left to manage there. */
export function postRemoval({ registry, indexWorker }: Deps): SessionHandler {
  return async (c, request) => {
    const crate = await ownedCrate(registry, c, request)
    const { user } = request.session
    return attempt(registry, c, request, crate, async () => {
      await removeOwners(
        registry.database,
        crate,
        [request.form.get('login') ?? ''],
        changeOf(request, user),
      )
      indexWorker.pages.wake()
      const stays = user.admin || (await isOwner(registry.database, crate.id, user.id))
      return withNotice(stays ? pathOf(crate) : '/me', 'owner-removed')
    })
  }
}

/** Does something and goes on to the path it gives; a refusal is told on the page of the crate. */
async function attempt(
  registry: Registry,
  c: Context,
  request: SessionRequest,
  crate: CrateRecord,
  work: () => Promise<string>,
): Promise<Response> {
  const site = registry.site
  try {
    return redirect(c, site, await work())
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    return page(c, site, await managed(registry, crate, request, notice), honestStatus(refusal))
  }
}

async function managed(
  registry: Registry,
  crate: CrateRecord,
  request: SessionRequest,
  notice: Notice | null,
): Promise<string> {
  const seconds = registry.settings.owners.invitation_seconds
  const [releases, owners, invitations] = await Promise.all([
    listReleases(registry.database, crate.id),
    listOwners(registry.database, crate.id),
    listInvitations(registry.database, { crateId: crate.id }, { now: request.now, seconds }),
  ])
  const invited = invitations.map(one => ({ ...one, by: one.by ?? 'the operator' }))
  const versions = releases
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .map(({ version, publishedAt, yanked }) => ({ version, published: publishedAt, yanked }))
  const facts = { viewer: viewerOf(request), notice, name: crate.name, versions, owners, invited }
  return managePage(registry.site, facts)
}

async function ownedCrate(
  registry: Registry,
  c: Context,
  request: SessionRequest,
): Promise<CrateRecord> {
  const crate = await crateOf(registry, c)
  await requireOwner(registry.database, crate, request.session.user)
  return crate
}

function pathOf(crate: CrateRecord): string {
  return `/me/crates/${crate.name}`
}
