import { join, resolve } from 'node:path'
import type { Web } from '../../web/web.ts'
import { cratesOfDl, folderCrates, guessUrls, namedCrates, readDl } from './crate-sources.ts'
import { listTiers, readTier } from './index-file.ts'
import type { ImportRequest, OpenedSource } from './source.ts'

/** Opens a folder with an index: a tree of Plimsoll, margo, or a mirror, or a local registry. */
export async function openTree(
  request: ImportRequest,
  web: Web,
  indexFolder: string,
): Promise<OpenedSource> {
  const root = resolve(request.source)
  const index = join(root, indexFolder)
  const dl = await readDl(index)
  const own = folderCrates(root, dl)
  // An index without any .crate next to it is a copy; its files are elsewhere.
  const elsewhere = async () => ((await own.isEmpty()) ? cratesOfDl(dl, index, web) : own)
  const crates = namedCrates(request, web) ?? (await elsewhere())
  const files = await listTiers(index)
  return {
    description: `a folder with an index in ${index}; .crate files from ${crates.description}`,
    ownUrls: guessUrls(dl, indexFolder === '.'),
    total: files.length,
    async *crates() {
      for (const file of files) yield await readTier(index, file, crates)
    },
  }
}
