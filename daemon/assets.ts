import { assets } from '../site/index.ts'
import type { Route } from './route.ts'

/**
 * Styles and scripts of the pages, which are part of the program: also for somebody who has not logged in to a private
 * registry yet, and before the public tree has them.
 */
export function assetRoutes(): Route[] {
  return assets.map(({ path, contentType, body }) => {
    const headers = {
      'content-type': contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    }
    return { method: 'GET', path: `/${path}`, access: 'open', handle: c => c.body(body, 200, headers) }
  })
}
