import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { refuse, timestamp } from '../../generator/index.ts'
import { type UsersData, usersPage } from '../../site/account/users-page.ts'
import { changeOf, type SessionRequest } from '../access/browser-request.ts'
import type { SessionHandler } from '../access/route.ts'
import {
  addUser,
  countUsers,
  findUsers,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../accounts/accounts.ts'
import { makeLink, passwordLink } from '../accounts/credentials.ts'
import { userActivity } from '../accounts/user-activity.ts'
import type { Deps } from '../deps.ts'
import { honestStatus } from '../http/failure.ts'
import { page, redirect } from '../http/page.ts'
import { listPage } from '../http/paging.ts'
import { failed, noticeOf, viewerOf, withNotice } from './notice.ts'

const PATH = '/me/admin/users'

/** `GET /me/admin/users`. */
export function users(deps: Deps): SessionHandler {
  return (c, request) => showUsers(deps, c, request, { notice: noticeOf(c) })
}

/** `POST /me/admin/users/add`: shows a one-time link, so that only the user knows the password. */
export function postUser(deps: Deps): SessionHandler {
  const { registry } = deps
  return (c, request) => {
    const { form, now } = request
    const draft = { login: form.get('login')?.trim() ?? '', admin: form.get('admin') === '1' }
    const work = async () => {
      const change = changeOf(request, request.session.user)
      const user = await addUser(registry.database, { ...draft, at: timestamp(now) }, change)
      return linkFor(deps, request, user)
    }
    return attempt(deps, c, request, work, draft)
  }
}

/** `POST /me/admin/users/{login}/{action}`. Administrators cannot lock or demote themselves. */
export function postUserAction(deps: Deps): SessionHandler {
  const { registry } = deps
  return (c, request) =>
    attempt(deps, c, request, async () => {
      const action = c.req.param('action') ?? ''
      const user = await requireUser(registry.database, c.req.param('login') ?? '')
      if (action === 'reset') return linkFor(deps, request, user)
      if (user.id === request.session.user.id) refuse('own_account')
      return withNotice(PATH, await act(deps, request, user, action))
    })
}

/** A one-time link for a user, shown to the administrator. */
async function linkFor({ registry }: Deps, request: SessionRequest, user: User): Promise<Outcome> {
  const change = changeOf(request, request.session.user)
  const secret = await makeLink(registry.database, user, request.now, change)
  return { resetLink: { login: user.login, url: passwordLink(registry.urls, secret) } }
}

async function act({ registry }: Deps, request: SessionRequest, user: User, action: string) {
  const change = changeOf(request, request.session.user)
  switch (action) {
    case 'enable':
    case 'disable':
      await setLocked(registry.database, user, action === 'disable', change)
      return action === 'disable' ? 'user-locked' : 'user-unlocked'
    case 'promote':
    case 'demote':
      await setAdmin(registry.database, user, action === 'promote', change)
      return action === 'promote' ? 'user-promoted' : 'user-demoted'
    default:
      return refuse('route_unknown')
  }
}

type Outcome = Partial<Pick<UsersData, 'notice' | 'resetLink' | 'draft'>> & {
  readonly status?: ContentfulStatusCode
}

/** Does the work, then redirects or shows the page; a refusal is shown on the page. */
async function attempt(
  deps: Deps,
  c: Context,
  request: SessionRequest,
  work: () => Promise<string | Outcome>,
  draft: UsersData['draft'] = null,
): Promise<Response> {
  try {
    const done = await work()
    return typeof done === 'string'
      ? redirect(c, deps.registry.site, done)
      : await showUsers(deps, c, request, done)
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    return showUsers(deps, c, request, { notice, draft, status: honestStatus(refusal) })
  }
}

async function showUsers(
  { registry }: Deps,
  c: Context,
  request: SessionRequest,
  outcome: Outcome,
): Promise<Response> {
  const { notice = null, resetLink = null, draft = null, status } = outcome
  const filter = c.req.query('q')?.trim() ?? ''
  const slice = listPage(c, await countUsers(registry.database, filter))
  const rows = await userActivity(
    registry.database,
    await findUsers(registry.database, { filter, ...slice }),
  )
  const facts = { viewer: viewerOf(request), notice, resetLink, draft }
  const list = rows.map(({ locked, ...user }) => ({ ...user, disabled: locked }))
  const site = registry.site
  return page(
    c,
    site,
    usersPage(site, { ...facts, users: list, usersPosition: slice, filter }),
    status,
  )
}
