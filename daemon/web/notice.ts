import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal, type Registry } from '../../generator/index.ts'
import type { Notice, Viewer } from '../../site/account/frame.ts'
import type { SessionRequest } from '../access/route.ts'
import { noteRefusal } from '../http/answer.ts'
import { asSentences, redirect } from '../http/page.ts'

/** What a form has done, by the word in the next address; no other text reaches the page. */
const DONE = {
  'token-revoked': 'The token is revoked.',
  'session-ended': 'The session has ended.',
  'sessions-ended': 'Every other session has ended.',
  'password-changed': 'The password is changed, and every other session has ended.',
  'invitation-accepted': 'You own the crate now.',
  'invitation-declined': 'The invitation is declined.',
  'owner-added': 'They own the crate now.',
  'owner-invited': 'They are invited; the invitation waits on their account page.',
  'owner-removed': 'They neither own the crate nor are they invited to.',
  'version-yanked': 'The version is yanked.',
  'version-unyanked': 'The version is no longer yanked.',
  'user-locked': 'The account is locked: its tokens and sessions are good for nothing.',
  'user-unlocked': 'The account is unlocked.',
  'user-promoted': 'The user is an administrator now.',
  'user-demoted': 'The user is no longer an administrator.',
} as const

/** Something that a form has done. */
export type Done = keyof typeof DONE

/** Sends the browser on to a page of ours that says what a form has done. */
export function redirectDone(c: Context, { site }: Registry, path: string, done: Done): Response {
  return redirect(c, site, `${path}?done=${done}`)
}

/** The notice that the address asks for. */
export function noticeOf(c: Context): Notice | null {
  const done = c.req.query('done') ?? ''
  return Object.hasOwn(DONE, done) ? { kind: 'done', text: DONE[done as Done] } : null
}

/** What a page says of a refusal. */
interface Refused {
  readonly notice: Notice
  readonly status: ContentfulStatusCode
}

/** Does what a form asks for. A refusal is told on the page that `show` gives. */
export async function attempt(
  c: Context,
  work: () => Promise<Response>,
  show: (refused: Refused) => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const notice = { kind: 'failed', text: asSentences(error) } as const
    return show({ notice, status: noteRefusal(c, error) })
  }
}

/** The person a page is for. */
export function viewerOf({ session, csrf }: SessionRequest): Viewer {
  return { login: session.user.login, admin: session.user.admin, csrf }
}
