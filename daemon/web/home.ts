import type { BrowserHandler } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import { ownPath } from '../http/parameters.ts'
import { showHome } from './home-page.ts'
import { isFromElsewhere, reloadPage, showLogin } from './login-page.ts'
import { noticeOf } from './notice.ts'

/** `GET /me`: the page that `cargo login` points to; without a session, the login form. */
export function home(deps: Deps): BrowserHandler {
  const site = deps.registry.site
  return (c, request) => {
    const next = ownPath(c.req.query('next'))
    const { session } = request
    if (!session)
      return isFromElsewhere(c) ? reloadPage(c, site) : showLogin(c, site, request, { next })
    if (next !== null) return redirect(c, site, next)
    if (c.req.path !== '/me') return redirect(c, site, '/me')
    return showHome(deps, c, { ...request, session }, { notice: noticeOf(c) })
  }
}
