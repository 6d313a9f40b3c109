import { addEvent, refuse } from '../../generator/index.ts'
import { changeOf, changeOfUnknown } from '../access/browser-request.ts'
import type { BrowserHandler, SessionHandler } from '../access/route.ts'
import { findUser } from '../accounts/accounts.ts'
import { checkPassword } from '../accounts/credentials.ts'
import { endSession } from '../accounts/sessions.ts'
import type { Deps } from '../deps.ts'
import { dropCookie } from '../http/cookies.ts'
import { honestStatus } from '../http/failure.ts'
import { loginOf } from '../http/form.ts'
import { redirect } from '../http/page.ts'
import { ownPath } from '../http/parameters.ts'
import { logIn } from './browser-session.ts'
import { showLogin } from './login-page.ts'
import { failed } from './notice.ts'

/** `POST /me/login`. A login that fails tells neither who exists nor what was typed. */
export function postLogin(deps: Deps): BrowserHandler {
  const { database, settings, site } = deps.registry
  return async (c, request) => {
    const { form, priority } = request
    const login = loginOf(form)
    const next = ownPath(form.get('next'))
    try {
      const attempt = { login, password: form.get('password') ?? '', priority }
      const user = await checkPassword(database, attempt, settings.auth.password_cost)
      if (!user) {
        // The login is logged only when it is an account's: other text may be a password in the
        // wrong field.
        const account = await findUser(database, login)
        const detail = account && { detail: { login: account.login } }
        await addEvent(database, changeOfUnknown(request), { action: 'login-failed', ...detail })
        return refuse('login_failed')
      }
      await logIn(deps, c, request, user)
      return redirect(c, site, next ?? '/me')
    } catch (error) {
      const { refusal, notice } = failed(c, error)
      return showLogin(c, site, request, { login, next, notice, status: honestStatus(refusal) })
    }
  }
}

/** `POST /me/logout`. */
export function postLogout({ registry }: Deps): SessionHandler {
  return async (c, request) => {
    const { id, user } = request.session
    await endSession(registry.database, { id, userId: user.id }, changeOf(request, user), 'logout')
    dropCookie(c, registry, 'session')
    return redirect(c, registry.site, '/me')
  }
}
