import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../../core/error/error.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Notice, Viewer } from '../../site/account/frame.ts'
import type { SessionRequest } from '../access/route.ts'
import { recordRefusal } from '../http/answer.ts'
import { asSentences, redirect } from '../http/page.ts'

/** Outcomes of forms, by `done` in the next URL; no other text reaches the page. */
const DONE = {
  'token-revoked': 'The token is revoked.',
  'session-ended': 'The session has ended.',
  'sessions-ended': 'Every other session has ended.',
  'password-changed': 'The password is changed, and every other session has ended.',
  'identity-linked':
    'The account is linked: log in with the button from now on. Every other session has ended.',
  'invitation-accepted': 'You own the crate now.',
  'invitation-declined': 'The invitation is declined.',
  'owner-added': 'The user owns the crate now.',
  'owner-invited': 'The user is invited and can accept on their account page.',
  'owner-removed': 'The user is no longer an owner of the crate, and no longer invited.',
  'version-yanked': 'The version is yanked.',
  'version-unyanked': 'The version is no longer yanked.',
  deprecated: 'It is deprecated.',
  undeprecated: 'It is no longer deprecated.',
  'user-linked': 'The account is linked: its owner logs in at the issuer from now on.',
  'rule-added': 'The rule is written.',
  'rule-added-wide':
    'The rule is written. It names neither ref nor environment, so whoever may push any branch can publish.',
  'rule-removed': 'The rule is removed: jobs publish nothing by it any more.',
  'trusted-only': 'New versions come from CI only.',
  'trusted-only-ended': 'Owners publish new versions, too.',
  'user-locked': 'The account is locked: its tokens are refused and its sessions have ended.',
  'user-unlocked': 'The account is unlocked.',
  'user-promoted': 'The user is an administrator now.',
  'user-demoted': 'The user is no longer an administrator.',
  'upstream-allow': 'The version is shown although it is held.',
  'upstream-hold': 'The version is held again.',
  'upstream-accept': 'The upstream is accepted as it is now, and the alarm is cleared.',
} as const

export type Deed = keyof typeof DONE

/** Redirects the browser to a page of this registry that shows the outcome of a form. */
export function redirectDone(c: Context, { site }: Registry, path: string, done: Deed): Response {
  return redirect(c, site, `${path}?done=${done}`)
}

/** Returns the notice of `done` in the URL, or null. */
export function noticeOf(c: Context): Notice | null {
  const done = c.req.query('done') ?? ''
  return Object.hasOwn(DONE, done) ? { kind: 'done', text: DONE[done as Deed] } : null
}

/** Runs the work of a form. `show` shows a refusal, unless the user may no longer see that page. */
export async function attempt(
  c: Context,
  work: () => Promise<Response>,
  show: (refused: { notice: Notice; status: ContentfulStatusCode }) => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.has('session_absent') || error.has('admin_only')) throw error
    const notice = { kind: 'failed', text: asSentences(error) } as const
    return show({ notice, status: recordRefusal(c, error) })
  }
}

/** What a page shows that a form led to: some of its data, and its status. */
export type Outcome<Data> = Partial<Data> & { readonly status?: ContentfulStatusCode }

/** Returns the viewer of a page. */
export function viewerOf({ session, csrf }: SessionRequest): Viewer {
  return { login: session.user.login, admin: session.user.admin, csrf }
}
