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
import { type AuditRow, auditPage } from '../../site/account/audit-page.ts'
import { type UsersData, usersPage } from '../../site/account/users-page.ts'
import { account } from '../../site/elements/links.ts'
import { page } from '../http/page.ts'
import { listPage, rowId } from '../http/paging.ts'
import { type Action, attempt, noticeOf, type Outcome, type Task, viewerOf } from './notice.ts'

/** An administrator's actions on another user, by the last segment of the path. */
const ACTIONS = {
  unlock: [setLocked, false, 'user-unlocked'],
  lock: [setLocked, true, 'user-locked'],
  promote: [setAdmin, true, 'user-promoted'],
  demote: [setAdmin, false, 'user-demoted'],
} as const

const isAction = (name: string): name is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, name)

/** `GET /me/admin/users`. */
export const users = (task: Task) => showUsers(task, { notice: noticeOf(task.c, task.registry) })

/** `POST /me/admin/users/add`: shows a one-time link, so that only the user knows the password. */
export function postUser(task: Task) {
  const { form, change } = task.request
  const draft = { login: form.get('login')?.trim() ?? '', admin: form.get('admin') === '1' }
  const work = async () => showLink(task, await addUser(task.registry.database, draft, change))
  return attempt(task.c, work, refused => showUsers(task, { draft, ...refused }))
}

/** `/me/admin/users/{login}/{action}`. Administrators cannot lock or demote themselves. */
export const userAction: Action = {
  async ask({ registry, c, request }) {
    const { id, login } = await requireUser(registry.database, c.req.param('login') ?? '')
    const about = c.req.param('action') ?? ''
    const question = { names: [login], back: account.users }
    const isOn = registry.settings.auth.passwords === 'on'
    if (about === 'link') {
      const { issuer = '', subject = '', keep = '' } = c.req.query()
      return {
        ...question,
        about: keep === '1' || !isOn ? 'link-only' : about,
        fields: { issuer, subject, keep },
      }
    }
    const query = queryOf(c)
    if (about === 'reset') return { ...question, about: isOn ? about : 'reset-login', query }
    if (!isAction(about)) return refuse('route_unknown')
    if (id === request.session.user.id) refuse('own_account')
    return { ...question, about, query }
  },
  async act(task) {
    const { registry, c, request } = task
    const action = c.req.param('action') ?? ''
    const user = await requireUser(registry.database, c.req.param('login') ?? '')
    const path = `/${account.users}${queryOf(c)}`
    if (action === 'reset') return showLink(task, user)
    if (action === 'link') {
      const { form } = request
      const named = { issuer: form.get('issuer') ?? '', subject: form.get('subject')?.trim() ?? '' }
      const told = { ...named, keepPassword: form.get('keep') === '1' }
      const order = linkOrder(registry.settings.oidc, told)
      await linkIdentity(registry.database, user.login, order, request.change)
      return [path, 'user-linked', user.login]
    }
    if (user.id === request.session.user.id) refuse('own_account')
    const [set, value, done] = isAction(action) ? ACTIONS[action] : refuse('route_unknown')
    await set(registry, user, value, request.change)
    return [path, done, user.login]
  },
  show: showUsers,
}

/** The filter and the page of the list, which its links and forms keep. */
function queryOf(c: Context): string {
  return new URL(c.req.url).search
}

async function showLink(task: Task, user: User) {
  const { database, urls } = task.registry
  const secret = await makeLink(database, user, task.request.now, task.request.change)
  return showUsers(task, { resetLink: { login: user.login, url: passwordLink(urls, secret) } })
}

async function showUsers(
  { registry: { database, settings, site }, c, request }: Task,
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
    passwords: settings.auth.passwords,
    usersPosition: slice,
    filter,
    ...outcome,
  }
  return page(c, site, usersPage(site, data), status)
}

const ROWS = 50

/** `GET /me/admin/audit?user=…&crate=…&action=…&before=…|after=…`: the audit log, newest first. */
export async function auditLog({ registry, c, request }: Task) {
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
