import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import {
  addUser,
  countUsers,
  findUsers,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../../generator/accounts/accounts.ts'
import {
  type AuditEvent,
  detailText,
  listActions,
  listEvents,
} from '../../generator/accounts/audit.ts'
import { makeLink, passwordLink } from '../../generator/accounts/credentials.ts'
import { linkIdentity, linkOrder, listAccess } from '../../generator/accounts/oidc-identities.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { type AuditRow, auditPage } from '../../site/account/audit-page.ts'
import { type UsersData, usersPage } from '../../site/account/users-page.ts'
import { account } from '../../site/elements/links.ts'
import type { SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { listPage, rowId } from '../http/paging.ts'
import { ask, attempt, noticeOf, type Outcome, redirectDone, viewerOf } from './notice.ts'

/** An administrator's actions on another user, by the last segment of the path. */
const ACTIONS = {
  unlock: [setLocked, false, 'user-unlocked'],
  lock: [setLocked, true, 'user-locked'],
  promote: [setAdmin, true, 'user-promoted'],
  demote: [setAdmin, false, 'user-demoted'],
} as const

const isAction = (name: string): name is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, name)

/** `GET /me/admin/users`. */
export function users({ registry }: Deps, c: Context, request: SessionRequest) {
  return showUsers(registry, c, request, { notice: noticeOf(c, registry) })
}

/** `POST /me/admin/users/add`: shows a one-time link, so that only the user knows the password. */
export function postUser({ registry }: Deps, c: Context, request: SessionRequest) {
  const { form } = request
  const draft = { login: form.get('login')?.trim() ?? '', admin: form.get('admin') === '1' }
  const work = async () => {
    const user = await addUser(registry.database, draft, request.change)
    return showLink(registry, c, request, user)
  }
  return attempt(c, work, refused => showUsers(registry, c, request, { draft, ...refused }))
}

/** `POST /me/admin/users/{login}/{action}`. Administrators cannot lock or demote themselves. */
export function postUserAction({ registry }: Deps, c: Context, request: SessionRequest) {
  const { form } = request
  const work = async () => {
    const action = c.req.param('action') ?? ''
    const user = await requireUser(registry.database, c.req.param('login') ?? '')
    if (action === 'reset') return showLink(registry, c, request, user)
    if (action === 'link') {
      const named = { issuer: form.get('issuer') ?? '', subject: form.get('subject')?.trim() ?? '' }
      const told = { ...named, keepPassword: form.get('keep') === '1' }
      const order = linkOrder(registry.settings.oidc, told)
      await linkIdentity(registry.database, user.login, order, request.change)
      return redirectDone(c, registry, `/${account.users}${queryOf(c)}`, 'user-linked')
    }
    if (user.id === request.session.user.id) refuse('own_account')
    const [set, value, done] = isAction(action) ? ACTIONS[action] : refuse('route_unknown')
    await set(registry.database, user, value, request.change)
    return redirectDone(c, registry, `/${account.users}${queryOf(c)}`, done, user.login)
  }
  return attempt(c, work, refused => showUsers(registry, c, request, refused))
}

/** The filter and the page of the list, which its links and forms keep. */
function queryOf(c: Context): string {
  return new URL(c.req.url).search
}

/** `GET /me/admin/users/{login}/{action}`. */
export async function askUserAction({ registry }: Deps, c: Context, request: SessionRequest) {
  const { login } = await requireUser(registry.database, c.req.param('login') ?? '')
  const about = c.req.param('action') ?? ''
  if (about !== 'reset' && !isAction(about)) refuse('route_unknown')
  return ask(c, registry, request, about, [login], { back: account.users, query: queryOf(c) })
}

async function showLink(registry: Registry, c: Context, request: SessionRequest, user: User) {
  const secret = await makeLink(registry.database, user, request.now, request.change)
  const resetLink = { login: user.login, url: passwordLink(registry.urls, secret) }
  return showUsers(registry, c, request, { resetLink })
}

async function showUsers(
  { database, settings, site }: Registry,
  c: Context,
  request: SessionRequest,
  { status, ...outcome }: Outcome<UsersData>,
): Promise<Response> {
  const filter = c.req.query('q')?.trim() ?? ''
  const slice = listPage(c, await countUsers(database, filter))
  const rows = await findUsers(database, { filter, ...slice })
  const sections = new Map(Object.values(settings.oidc).map(({ issuer, name }) => [issuer, name]))
  const data: UsersData = {
    viewer: viewerOf(request),
    notice: null,
    resetLink: null,
    draft: null,
    users: await listAccess(database, settings, request.now, rows),
    issuers: sections,
    usersPosition: slice,
    filter,
    ...outcome,
  }
  return page(c, site, usersPage(site, data), status)
}

const ROWS = 50

/** `GET /me/admin/audit?user=…&crate=…&action=…&before=…|after=…`: the audit log, newest first. */
export async function auditLog({ registry }: Deps, c: Context, request: SessionRequest) {
  const { database, site } = registry
  const asked = (name: string) => c.req.query(name)?.trim() ?? ''
  const conditions = { user: asked('user'), crate: asked('crate'), action: asked('action') }
  const filter = {
    actor: conditions.user || undefined,
    crate: conditions.crate || undefined,
    action: conditions.action || undefined,
  }
  const [before, after] = [rowId(c.req.query('before')), rowId(c.req.query('after'))]
  const side = after !== null ? { after } : before !== null ? { before } : {}
  const events = await listEvents(database, { ...filter, ...side, limit: ROWS })
  const has = async (limits: { before: number } | { after: number }) =>
    (await listEvents(database, { ...filter, ...limits, limit: 1 })).length > 0
  const [oldest, newest] = [events.at(0), events.at(-1)]
  const hasOlder = oldest && (await has({ before: oldest.id }))
  const hasNewer = newest && (await has({ after: newest.id }))
  const link = (name: string, id: number) =>
    `?${new URLSearchParams({ ...conditions, [name]: String(id) })}`
  const text = auditPage(site, {
    viewer: viewerOf(request),
    conditions,
    actions: await listActions(database),
    rows: events.reverse().map(auditRow),
    older: hasOlder ? link('before', oldest.id) : null,
    newer: hasNewer ? link('after', newest.id) : null,
  })
  return page(c, site, text)
}

function auditRow(event: AuditEvent): AuditRow {
  const { at, actor, action, crate, version, detail, token, token_name, address } = event
  const user = typeof detail?.login === 'string' ? detail.login : null
  const details = [
    detailText(event, 'login'),
    token === null ? '' : `using token ${token_name === null ? token : `“${token_name}”`}`,
    address ? `from ${address}` : '',
  ]
  const more = details.filter(detail => detail !== '').join(', ')
  return { at, actor, action, crate, version, user, detail: more === '' ? null : more }
}
