import type { Context } from 'hono'
import { browserName } from '../access/browser-name.ts'
import { type BrowserRequest, changeOf } from '../access/browser-request.ts'
import type { Account } from '../accounts/accounts.ts'
import { makeDevice } from '../accounts/device.ts'
import { startSession } from '../accounts/sessions.ts'
import type { Deps } from '../deps.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'

/** As long as browsers keep any cookie (RFC 6265bis §5.5). */
const DEVICE_SECONDS = 400 * 86_400

/** Logs a user in with a new session and ends the one the browser had. */
export async function logIn(
  { registry }: Deps,
  c: Context,
  request: BrowserRequest,
  user: Account,
): Promise<void> {
  const { database, settings } = registry
  const seconds = settings.auth.session_seconds
  const agent = browserName(c.req.header('user-agent') ?? '')
  const start = { agent, now: request.now, seconds }
  const secret = await startSession(database, user.id, start, changeOf(request, user))
  writeCookie(c, registry, 'session', secret, seconds)
  const device = await makeDevice(database, user.id)
  if (device !== null) writeCookie(c, registry, 'device', device, DEVICE_SECONDS)
  if (readCookie(c, registry, 'form') !== undefined) dropCookie(c, registry, 'form')
  if (request.session)
    await database.deleteFrom('sessions').where('id', '=', request.session.id).execute()
}
