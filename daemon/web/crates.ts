import { refuse } from '../../core/error/error.ts'
import { canonicalName } from '../../core/name.ts'
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
import { listRules, ruleText, trustedOnlyBy } from '../../generator/trust/rules.ts'
import { dropRule } from '../../generator/trust/rules-changes.ts'
import { rulesShown } from '../../generator/trust/trusted-tokens.ts'
import type { Notice } from '../../site/account/frame.ts'
import { managePage } from '../../site/account/manage-page.ts'
import { account } from '../../site/elements/links.ts'
import { crateOf, type SessionRequest } from '../access/route.ts'
import { recordSubject } from '../http/log.ts'
import { page } from '../http/page.ts'
import { type Action, noticeOf, type Outcome, type Task, viewerOf } from './notice.ts'
import { ruleRows, trustAction } from './trust-form.ts'

interface CrateTask extends Task {
  readonly crate: CrateRecord
  readonly path: string
}

/** Finds the crate of the path; admits only its owners and administrators. */
async function ofCrate(task: Task): Promise<CrateTask> {
  const { registry, c, request } = task
  const crate = await crateOf(registry, c, findCrate)
  await requireOwner(registry.database, crate, request.change)
  return { ...task, crate, path: `/me/crates/${crate.name}` }
}

/** Makes an action on a crate that of its path; the crate's page shows what is refused. */
function managed({ ask, act }: Action<CrateTask>): Action {
  return {
    ask: async task => {
      const found = await ofCrate(task)
      return { back: account.crate(found.crate.name), ...(await ask(found)) }
    },
    act: async task => act(await ofCrate(task)),
    show: async (task, refused) => showCrate(await ofCrate(task), refused),
  }
}

/** `GET /me/crates/{name}`: the page where owners manage a crate. */
export const manage = async (task: Task) =>
  showCrate(await ofCrate(task), { notice: noticeOf(task.c, task.registry) })

/** `…/yank?version=…` and `…/unyank?version=…`: changes the records by the same rules as the API. */
export const yank = (yanked: boolean) =>
  managed({
    async ask({ registry, c, crate: { id, name } }) {
      const version = parseVersion(c.req.query('version') ?? '')
      const release = await findRelease(registry.database, id, version)
      if (!release) return refuse('release_unknown', { name, version })
      const about = yanked ? (release.yanked ? 'yank-reason' : 'yank') : 'unyank'
      return { about, names: [name, version], fields: { version }, said: release.yankReason }
    },
    async act({ registry, indexWorker, git, c, request, crate, path }) {
      const version = parseVersion(request.form.get('version') ?? '')
      recordSubject(c, { version })
      const reason = request.form.get('reason')?.trim()
      const to = { yanked, reason: yanked && reason === '' ? null : reason }
      const { crateId } = await setYanked(registry, crate.name, version, to, request.change)
      await indexWorker.crate(crateId)
      git?.wake()
      return [path, yanked ? 'version-yanked' : 'version-unyanked', crate.name, version]
    },
  })

/** `…/deprecate`, and `…/undeprecate?requirement=…`, which takes it back. */
export const deprecation = (isSaid: boolean) =>
  managed({
    async ask({ registry, c, crate: { id, name } }) {
      const requirement = c.req.query('requirement') ?? ''
      const all = await listDeprecations(registry.database, id)
      if (!all.some(each => each.requirement === requirement)) refuse('route_unknown')
      return { about: 'undeprecate', names: [`${name}@${requirement}`], fields: { requirement } }
    },
    async act({ registry, indexWorker, request, crate, path }) {
      const text = (name: string) => request.form.get(name)?.trim() ?? ''
      const spec = `${crate.name}@${text('requirement') || '*'}`
      const said = isSaid ? { reason: text('reason'), use: text('use') || null } : null
      await setDeprecated(registry, spec, said, request.change)
      indexWorker.pages.wake()
      return [path, isSaid ? 'deprecated' : 'undeprecated', spec]
    },
  })

/** `POST …/owners/add`: adds or invites an owner, depending on the setting `owners.add`. */
export const newOwner = managed({
  ask: () => refuse('route_unknown'),
  async act({ registry, indexWorker, request, crate, path }) {
    const login = request.form.get('login')?.trim() ?? ''
    if (login === '') refuse('owner_no_user', { login, name: crate.name })
    const add = registry.settings.owners.add === 'invite' ? inviteOwners : addOwners
    const { changed, invited, unchanged } = await add(registry, crate, [login], request.change)
    const [owner = login] = [...changed, ...invited, ...unchanged]
    indexWorker.pages.wake()
    return [path, invited.length > 0 ? 'owner-invited' : 'owner-added', crate.name, owner]
  },
})

/** `…/owners/remove?login=…`. A user who removed themselves is sent to `/me`. */
export const ownerRemoval = managed({
  async ask({ registry, c, request, crate }) {
    const login = c.req.query('login') ?? ''
    const isOne = (row: { readonly login: string }) => row.login === login
    const isOwner = (await listOwners(registry.database, crate.id)).some(isOne)
    if (!isOwner && !(await invitedTo(registry, crate, request)).some(isOne))
      refuse('owner_unknown', { login, name: crate.name })
    const rules = (await rulesBy(registry, crate, login)).map(ruleText)
    const about = isOwner ? 'remove-owner' : 'withdraw'
    return { about, names: [crate.name, login], fields: { login }, rules }
  },
  async act({ registry, indexWorker, request, crate, path }) {
    const login = request.form.get('login') ?? ''
    const isWhole = request.form.get('rules') === 'remove'
    const rules = isWhole ? await rulesBy(registry, crate, login) : []
    // First, because who removes themselves may not do it afterwards.
    for (const { id } of rules) await dropRule(registry.database, id, request.change)
    const { changed } = await removeOwners(registry, crate, [login], request.change)
    indexWorker.pages.wake()
    const { user } = request.session
    const at = timestamp(request.now)
    const stays = user.admin || (await isOwner(registry.database, crate.id, user.id, at))
    return [stays ? path : '/me', 'owner-removed', crate.name, ...changed]
  },
})

/** `…/trust/{add,remove,only}`: changes which jobs publish the crate. */
export const crateTrust = managed(trustAction(({ path, crate }) => ({ path, crate: crate.name })))

function rulesBy({ database }: Registry, { id }: CrateRecord, login: string) {
  return listRules(database, { crateIds: [id], writers: [login] })
}

function invitedTo({ database, settings }: Registry, crate: CrateRecord, { now }: SessionRequest) {
  const time = { now, seconds: settings.owners.invitation_seconds }
  return listInvitations(database, { crateId: crate.id }, time)
}

async function showCrate(
  { registry, c, request, crate }: CrateTask,
  { notice = null, status }: Outcome<{ readonly notice: Notice | null }>,
): Promise<Response> {
  const { database, settings, site } = registry
  const [rules, only, deprecations, releases, owners, invited] = await Promise.all([
    rulesShown(database, crate, request.now),
    trustedOnlyBy(database, canonicalName(crate.name)),
    listDeprecations(database, crate.id),
    listVersions(database, crate.id),
    listOwners(database, crate.id),
    invitedTo(registry, crate, request),
  ])
  const versions = newestFirst(releases)
  const trust = {
    rules: ruleRows(rules),
    issuers: Object.keys(settings.issuer),
    only: only !== null,
  }
  const viewer = viewerOf(request)
  const data = {
    ...{ viewer, notice, name: crate.name, versions, deprecations, owners, invited, trust },
  }
  return page(c, site, managePage(site, data), status)
}
