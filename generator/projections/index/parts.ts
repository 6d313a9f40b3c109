import { crateFilePath, crateFolder, crateKey } from '../../../core/paths/crates.ts'
import { configPath, indexPath, output } from '../../../core/paths/tree.ts'
import { disk } from '../../places/disk/disk.ts'
import { BYTES_MAX, fileStats, hasChecksum } from '../../places/disk/files.ts'
import { eachCrate } from '../../records/crates.ts'
import { indexFiles } from '../../records/releases.ts'
import type { FullContext } from '../context.ts'
import { type Fault, isInCrate, type Part } from '../projection.ts'
import { renderConfig } from './config.ts'
import { rebuildCrate } from './show.ts'

/** Yields each crate with its index file and what is in its folder, then `config.json`. */
export async function* indexParts(context: FullContext): AsyncIterable<Part> {
  const { database, urls, authRequired } = context
  for await (const { id, name } of eachCrate(database))
    yield {
      about: name,
      pending: { kind: 'index', subject: id },
      render: async () =>
        (await indexFiles(database, [id])).flatMap(({ text }) =>
          text === null ? [] : output(indexPath(name), text),
        ),
      faults: () => faultsOf(context, id),
      mend: () => rebuildCrate(context, id),
    }
  const render = async () => [renderConfig(urls, authRequired)]
  yield {
    about: configPath,
    pending: async () => false,
    render,
    differs: 'differs from the settings',
  }
}

/** Finds `.crate` files that are not as published, and what does not belong to the crate. */
async function faultsOf(context: FullContext, crateId: number): Promise<readonly Fault[]> {
  const { database, tree, crates } = context
  const [crate] = await indexFiles(database, [crateId], 'all')
  if (!crate) return []
  const { name, text, unshown } = crate
  const faults: Fault[] = []
  for (const { version, cksum } of unshown) {
    // A hard link to the crate store, where the bytes are checked.
    const stored = crates.path(crateKey(name, cksum))
    // A daemon reads crates in a bucket, without files in the tree.
    if (stored === null) break
    const path = crateFilePath(name, version)
    if (await disk.run('isSameFile', tree.path(path), stored)) continue
    const most = (await fileStats(stored))?.size ?? BYTES_MAX
    const isShown = await hasChecksum(tree.path(path), most, cksum)
    const what =
      isShown === null
        ? 'the .crate is not in the public tree'
        : 'the bytes differ from the records'
    if (!isShown) faults.push({ path, what })
  }
  const path = indexPath(name)
  if (text === null && (await tree.has(path))) faults.push({ path, what: 'has no versions left' })
  const versions = new Set<string>(unshown.map(release => release.version))
  for await (const file of tree.list(crateFolder(name)))
    if (!isInCrate(context, file, { name, versions }))
      faults.push({ path: file, what: 'does not belong to its crate' })
  return faults
}
