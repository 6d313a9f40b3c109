import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import {
  findCrate,
  findRelease,
  isName,
  isVersion,
  placeOf,
  type Registry,
  readRawFile,
  refuse,
} from '../../generator/index.ts'
import type { OpenHandler } from '../access/route.ts'
import { isKnown } from '../http/answer.ts'
import { addressGroup, addressOf } from '../http/client-address.ts'
import { redirect } from '../http/page.ts'
import { Slots } from '../http/slots.ts'
import { rawHeaders } from './file-headers.ts'
import { missing } from './missing.ts'
import { decodePath, type TreeFiles } from './public-files.ts'

/**
 * `GET /crates/{name}/{version}/raw/…`: a file of a package as it is. Images are files of the public
 * tree, and other files if the settings say so; all others are read from the `.crate`. A text has
 * `.txt` behind its name; without that, the client is redirected.
 */
export function rawFile(registry: Registry, files: TreeFiles): OpenHandler {
  const clientOf = addressOf(registry.settings.server)
  const slots = new Slots({ running: 2, waiting: 16, busy: 'server_busy' })
  return async c => {
    const known = await files.serve(c.req.path, c)
    if (known) return known
    const path = decodePath(c.req.path) ?? refuse('route_unknown')
    const [, name = '', version = ''] = path.split('/')
    const crate = isName(name) ? await findCrate(registry.database, name) : null
    const release =
      crate && isVersion(version) ? await findRelease(registry.database, crate.id, version) : null
    if (!crate || !release) return missing(registry, files, c)
    const tag = createHash('sha256').update(`${release.cksum} ${path}`).digest('hex').slice(0, 32)
    const headers = {
      ...rawHeaders,
      etag: `"${tag}"`,
      'cache-control': 'no-cache',
    }
    if (isKnown(c.req.header('if-none-match'), tag)) return c.body(null, 304, headers)
    const client = addressGroup(clientOf(c))
    const read = (one: string) =>
      slots.run(client, () => readRawFile(registry, crate, release, one), c.req.raw.signal)
    const bytes = await read(path)
    if (bytes !== null) return answer(c, path, bytes, headers)
    // Texts end in `.txt`, so that every web server sends them as such.
    if ((await read(`${path}.txt`)) === null) return missing(registry, files, c)
    return redirect(c, registry.site, `${c.req.path}.txt`)
  }
}

function answer(
  c: Context,
  path: string,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): Response {
  // What is no text is for programs, even if its name says otherwise.
  const isText = !bytes.includes(0)
  const isShown = isText || !path.endsWith('.txt')
  const contentType = isShown ? placeOf(path).contentType : 'application/octet-stream'
  return c.body(new Uint8Array(bytes), 200, { ...headers, 'content-type': contentType })
}
