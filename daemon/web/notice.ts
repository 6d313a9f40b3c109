import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../core/error/error.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { confirmPage, type Notice, type Question, type Viewer } from '../../site/account/frame.ts'
import type { SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { recordRefusal } from '../http/answer.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { asSentences, page, redirect } from '../http/page.ts'

/** Outcomes of forms, by `done` in the next URL; `#` and `@` stand for what was changed. */
const DONE = {
  'token-revoked': 'The token # is revoked.',
  'session-ended': 'The session of # has ended.',
  'sessions-ended': 'Every other session of # has ended.',
  'password-changed': 'The password of # is changed, and every other session has ended.',
  'identity-linked':
    '# is linked: log in with the button from now on. Every other session has ended.',
  'invitation-accepted': 'You own # now.',
  'invitation-declined': 'The invitation to own # is declined.',
  'owner-added': '@ owns # now.',
  'owner-invited': '@ is invited to own # and can accept on their account page.',
  'owner-removed': '@ is no longer an owner of #, and no longer invited.',
  'rule-added': 'Rule # lets jobs publish @.',
  'rule-added-wide':
    'Rule # lets jobs publish @. It names neither ref nor environment, so whoever may push any branch can publish.',
  'rule-removed': 'Rule # is removed: jobs publish @ by it no longer.',
  'trusted-only': 'New versions of # come from CI only.',
  'trusted-only-ended': 'Owners publish new versions of #, too.',
  'version-yanked': '# @ is yanked.',
  'version-unyanked': '# @ is no longer yanked.',
  deprecated: '# is deprecated.',
  undeprecated: '# is no longer deprecated.',
  'user-linked': '# is linked: its owner logs in at the issuer from now on.',
  'user-locked': '# is locked: the tokens of # are refused, and every session has ended.',
  'user-unlocked': '# is unlocked.',
  'user-promoted': '# is an administrator now.',
  'user-demoted': '# is no longer an administrator.',
  'upstream-allow': '# is shown although it is held.',
  'upstream-hold': '# is held again.',
  'upstream-accept': '# is accepted as the upstream has it now, and the alarm is cleared.',
} as const

type Deed = keyof typeof DONE

/** For how many seconds a notice may wait for its page. */
const NOTICE_SECONDS = 60

/**
 * Redirects the browser to a page of this registry that shows the outcome of a form. The names
 * travel in a cookie: links of others can make no page say anything.
 */
export function redirectDone(
  c: Context,
  registry: Registry,
  path: string,
  done: Deed,
  ...names: readonly string[]
): Response {
  writeCookie(c, registry, 'notice', [done, ...names].join('\n'), NOTICE_SECONDS)
  return redirect(c, registry.site, `${path}${path.includes('?') ? '&' : '?'}done=${done}`)
}

/** Returns the notice of a form that led here, once; otherwise null. */
export function noticeOf(c: Context, registry: Registry): Notice | null {
  const [done = '', what = '', whom = ''] = readCookie(c, registry, 'notice')?.split('\n') ?? []
  if (done !== c.req.query('done') || !Object.hasOwn(DONE, done)) return null
  dropCookie(c, registry, 'notice')
  const fill = (sign: string) => (sign === '#' ? what : whom)
  return { kind: 'done', text: DONE[done as Deed].replace(/[#@]/g, fill) }
}

/** What a page says of a form that was refused. */
interface Refused {
  readonly notice: Notice
  readonly status: ContentfulStatusCode
}

/** Who is refused so may not see the page that the form is on. */
const HIDING = [
  ...(['session_absent', 'admin_only', 'crate_unknown'] as const),
  ...(['not_owner', 'not_owner_yet', 'crate_ownerless'] as const),
]

/** Runs the work of a form. `show` shows a refusal, unless the user may no longer see that page. */
export async function attempt(
  c: Context,
  work: () => Promise<Response>,
  show: (refused: Refused) => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (HIDING.some(code => error.has(code))) throw error
    const notice = { kind: 'failed', text: asSentences(error) } as const
    // A change of which nobody knows may have hidden the page, too.
    return Promise.resolve(show({ notice, status: recordRefusal(c, error) })).catch(() => {
      throw error
    })
  }
}

/** What a handler of pages for people has. */
export interface Task extends Deps {
  readonly c: Context
  readonly request: SessionRequest
}

/** What a form does, and the page of the same path that asks first. */
export interface Action<T = Task> {
  /** Returns the question; refuses what cannot be done. */
  readonly ask: (task: T) => Question | Promise<Question>
  /** Does it, and returns what to say of it; or a page of its own. */
  readonly act: (task: T) => Promise<Done | Response>
  /** Shows a page with what was refused; without it, that is a page of its own. */
  readonly show?: (task: T, refused: Refused) => Promise<Response>
}

/** The page that a form leads to, what was done, and the names for the signs in its notice. */
type Done = readonly [path: string, deed: Deed, ...names: readonly string[]]

/** Shows the page that asks about an action. */
export async function showQuestion(action: Action, task: Task): Promise<Response> {
  const { registry, c, request } = task
  const question = await action.ask(task)
  const text = confirmPage(registry.site, viewerOf(request), c.req.path.slice(1), question)
  return page(c, registry.site, text)
}

/** Does what the form of an action says. */
export async function doAction({ act, show }: Action, task: Task): Promise<Response> {
  const { registry, c } = task
  const work = async () => {
    const done = await act(task)
    return done instanceof Response ? done : redirectDone(c, registry, ...done)
  }
  return show ? attempt(c, work, refused => show(task, refused)) : work()
}

/** What a page shows that a form led to: some of its data, and its status. */
export type Outcome<Data> = Partial<Data> & { readonly status?: ContentfulStatusCode }

/** Returns the viewer of a page. */
export function viewerOf({ session, csrf }: SessionRequest): Viewer {
  return { login: session.user.login, admin: session.user.admin, csrf }
}
