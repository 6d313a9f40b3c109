import { crateFilePath, type Registry, refuse } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import type { PublicFiles } from '../../files/public-files.ts'
import { foundVersion } from './found.ts'

/** `GET …/{name}/{version}/download`: the `.crate` itself, yanked or not, never redirected. */
export function download(registry: Registry, files: PublicFiles): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const { name } = card
    const path = crateFilePath(name, release.version)
    const { version } = release
    return files.serve(`/${path}`, c.req) ?? refuse('release_unknown', { name, version })
  }
}
