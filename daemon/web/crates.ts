import type { Context } from 'hono'
import { type CrateRecord, compareVersions, isName, parseVersion, type Registry, refuse } from '../../generator/index.ts'
import { confirmPage, managePage } from '../../site/account/crate-page.ts'
import type { Notice } from '../../site/account/viewer.ts'
import { honestStatus } from '../http/failure.ts'
import { listInvited } from '../accounts/invitations.ts'
import { addOwners, inviteOwners, listOwners, removeOwners, requireOwner } from '../accounts/ownership.ts'
import { goOn, page, siteOf } from '../http/page.ts'
import type { SessionHandler } from '../access/route.ts'
import { changeOf, type SessionVisit } from '../access/visit.ts'
import type { MeDeps } from './deps.ts'
import { failed, tell, told, viewerOf } from './notice.ts'

/** `GET /me/crates/{name}`: what an owner manages. */
export function manage(deps: MeDeps): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(deps.registry, c, visit)
    return page(c, siteOf(deps.registry), await managed(deps.registry, crate, visit, told(c)))
  }
}

/** `GET …/yank?version=…` and `GET …/unyank?version=…`: asks once more. */
export function confirmYank({ registry }: MeDeps, yanked: boolean): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(registry, c, visit)
    const version = parseVersion(c.req.query('version') ?? '')
    if (!(await registry.catalog.release(crate.id, version))) refuse('release_unknown', { name: crate.name, version })
    const site = siteOf(registry)
    const step = { action: yanked ? 'yank' : 'unyank', version } as const
    return page(c, site, confirmPage(site, viewerOf(visit), crate.name, step))
  }
}

/** `POST …/yank` and `POST …/unyank`: by the rules of the API, which the catalog keeps. */
export function postYank({ registry, regenerator, git }: MeDeps, yanked: boolean): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(registry, c, visit)
    const version = parseVersion(visit.form.get('version') ?? '')
    const change = changeOf(visit, visit.session.user)
    const { crateId } = await registry.catalog.setYanked(crate.name, version, yanked, change)
    await regenerator.crate(crateId)
    git?.poke()
    return goOn(c, siteOf(registry), tell(pathOf(crate), yanked ? 'version-yanked' : 'version-unyanked'))
  }
}

/** `POST …/owners/add`: an owner at once or an invitation, as `owners.add` has it. */
export function postOwner({ registry, regenerator }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(registry, c, visit)
    const login = visit.form.get('login')?.trim() ?? ''
    const isInvite = registry.settings.owners.add === 'invite'
    const work = isInvite ? inviteOwners : addOwners
    return attempt(registry, c, visit, crate, async () => {
      if (login === '') refuse('owner_no_user', { login, name: crate.name })
      await work(registry.database, crate, [login], changeOf(visit, visit.session.user))
      regenerator.pages.kick()
      return tell(pathOf(crate), isInvite ? 'owner-invited' : 'owner-added')
    })
  }
}

/** `GET …/owners/remove?login=…`: asks once more. */
export function confirmRemoval({ registry }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(registry, c, visit)
    const login = c.req.query('login') ?? ''
    const owners = await listOwners(registry.database, crate.id)
    if (!owners.some(owner => owner.login === login)) refuse('owner_unknown', { login, name: crate.name })
    const site = siteOf(registry)
    return page(c, site, confirmPage(site, viewerOf(visit), crate.name, { action: 'remove-owner', login }))
  }
}

/** `POST …/owners/remove`. Who has removed themselves has nothing left to manage there. */
export function postRemoval({ registry, regenerator }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const crate = await ownedCrate(registry, c, visit)
    const { user } = visit.session
    return attempt(registry, c, visit, crate, async () => {
      await removeOwners(registry.database, crate, [visit.form.get('login') ?? ''], changeOf(visit, user))
      regenerator.pages.kick()
      const stays = user.admin || (await registry.catalog.isOwner(crate.id, user.id))
      return tell(stays ? pathOf(crate) : '/me', 'owner-removed')
    })
  }
}

/** Does something and goes on to the path it gives; a refusal is told on the page of the crate. */
async function attempt(
  registry: Registry,
  c: Context,
  visit: SessionVisit,
  crate: CrateRecord,
  work: () => Promise<string>,
): Promise<Response> {
  const site = siteOf(registry)
  try {
    return goOn(c, site, await work())
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    return page(c, site, await managed(registry, crate, visit, notice), honestStatus(refusal))
  }
}

async function managed(
  registry: Registry,
  crate: CrateRecord,
  visit: SessionVisit,
  notice: Notice | null,
): Promise<string> {
  const [releases, owners, invitations] = await Promise.all([
    registry.catalog.releases(crate.id),
    listOwners(registry.database, crate.id),
    listInvited(registry.database, crate.id, { now: visit.now, seconds: registry.settings.owners.invitation_seconds }),
  ])
  const invited = invitations.map(one => ({ ...one, by: one.by ?? 'the operator' }))
  const versions = releases
    .toSorted((a, b) => compareVersions(b.version, a.version))
    .map(({ version, publishedAt, yanked }) => ({ version, published: publishedAt, yanked }))
  const facts = { viewer: viewerOf(visit), notice, name: crate.name, versions, owners, invited }
  return managePage(siteOf(registry), facts)
}

async function ownedCrate(registry: Registry, c: Context, visit: SessionVisit): Promise<CrateRecord> {
  const name = c.req.param('name') ?? ''
  const crate = isName(name) ? await registry.catalog.find(name) : null
  if (!crate) return refuse('crate_unknown', { name })
  await requireOwner(registry.database, crate, visit.session.user)
  return crate
}

function pathOf(crate: CrateRecord): string {
  return `/me/crates/${crate.name}`
}
