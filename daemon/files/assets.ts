import { refuse } from '../../generator/index.ts'
import { assets } from '../../site/layout/assets.ts'
import type { OpenHandler } from '../access/route.ts'
import { fileRequest } from './file-request.ts'
import type { PublicFiles } from './public-files.ts'

const ours = new Map(assets.map(({ path, ...asset }) => [`/${path}`, asset]))

/**
 * `GET /assets/…`: scripts and styles, open to all because the login form needs them. Those of this
 * release are in the program, those of earlier ones in the public tree.
 */
export function assetFile(files: PublicFiles): OpenHandler {
  const treeFile = fileHandler(files)
  return c => {
    const asset = ours.get(c.req.path)
    if (!asset) return treeFile(c)
    return c.body(new Uint8Array(asset.bytes), 200, {
      'content-type': asset.contentType,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  }
}

/** A file of the public tree, by the path of the request. */
export function fileHandler(files: PublicFiles): OpenHandler {
  return c => files.serve(c.req.path, fileRequest(c)) ?? refuse('route_unknown')
}
