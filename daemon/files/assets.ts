import { refuse } from '../../generator/index.ts'
import { assets } from '../../site/layout/assets.ts'
import type { OpenHandler } from '../access/route.ts'
import { fileRequest } from './file-request.ts'
import type { PublicFiles } from './public-files.ts'

const own = new Map(
  assets.map(({ path, contentType, bytes }) => {
    const cache = 'public, max-age=31536000, immutable'
    const headers = {
      'content-type': contentType,
      'cache-control': cache,
      'x-content-type-options': 'nosniff',
    }
    return [`/${path}`, { bytes: new Uint8Array(bytes), headers }]
  }),
)

/**
 * `GET /assets/…`: styles and scripts of the pages. They are part of the program and no secret, so that also who has not
 * logged in to a private registry yet sees the form for it; those of an earlier release are in the public tree.
 */
export function assetFile(files: PublicFiles): OpenHandler {
  return c => {
    const found = own.get(c.req.path)
    if (found) return c.body(found.bytes, 200, found.headers)
    return files.serve(c.req.path, fileRequest(c)) ?? refuse('route_unknown')
  }
}
