import {
  crateFilePath,
  findCrate,
  findRelease,
  isName,
  isVersion,
  type Registry,
  refuse,
} from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { fileRequest } from '../../files/file-request.ts'
import type { PublicFiles } from '../../files/public-files.ts'

/** `GET …/{name}/{version}/download`: the `.crate` itself, yanked or not, never redirected. */
export function download(registry: Registry, files: PublicFiles): OpenHandler {
  return async c => {
    const [name = '', version = ''] = [c.req.param('name'), c.req.param('version')]
    if (!isName(name)) refuse('crate_unknown', { name })
    if (!isVersion(version)) refuse('release_unknown', { name, version })
    const crate = await findCrate(registry.database, name)
    const release = crate && (await findRelease(registry.database, crate.id, version))
    if (!crate) return refuse('crate_unknown', { name })
    if (release?.version !== version)
      return refuse('release_unknown', { name: crate.name, version })
    const path = crateFilePath(crate.name, version)
    return (
      files.serve(`/${path}`, fileRequest(c)) ??
      refuse('release_unknown', { name: crate.name, version })
    )
  }
}
