import type { Context, Hono } from 'hono'
import { refused } from './wire/response.ts'
import { requestTarget, type SampleEnv } from './wire/target.ts'

/**
 * Answers a request that no route took, in this order: 405 with `Allow` where another method would have been taken, 307
 * where the path differs from a route by its slash at the end, 404. Install it as `app.notFound`.
 */
export function unmatched(app: Hono<SampleEnv>): (context: Context<SampleEnv>) => Response {
  return context => {
    const { path } = context.req
    const allowed = methodsOf(app, path)
    if (allowed.length > 0) return refused(405, 'Method Not Allowed', { Allow: allowed.join(', ') })
    const other = toggleSlash(path)
    if (other !== '' && methodsOf(app, other).length > 0) return redirect(context)
    return refused(404, 'Not Found')
  }
}

/** The methods that routes take a path with, asked of Hono's own router. HEAD goes along with GET. */
function methodsOf(app: Hono<SampleEnv>, path: string): string[] {
  const methods = new Set(app.routes.map(route => route.method))
  return [...methods].filter(method => app.router.match(method, path)[0].length > 0)
}

/** Without the slashes at its end, or with one when there is none. */
function toggleSlash(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return end === path.length ? `${path}/` : path.slice(0, end)
}

/** To the same place as the client wrote it, scheme, host and query untouched, only the slash corrected. */
function redirect(context: Context<SampleEnv>): Response {
  const { path, query } = requestTarget(context.req.raw, context.env)
  const { protocol, host } = new URL(context.req.url)
  const location = `${protocol}//${context.env?.incoming?.headers.host ?? host}${toggleSlash(path)}${query}`
  return new Response(null, { status: 307, headers: { Location: location, 'Content-Length': '0' } })
}
