import { isName } from '../../core/name.ts'
import { crateFilePath, crateKey } from '../../core/paths/crates.ts'
import { indexPath } from '../../core/paths/tree.ts'
import type { Queries } from '../database/statement.ts'
import type { IndexFile } from '../places/mirror.ts'
import { findCrate } from './crates.ts'
import { indexFiles } from './releases.ts'

/** Returns the index file at a path of the public tree; null when no crate has one there. */
export async function readIndexFile(db: Queries, path: string): Promise<IndexFile | null> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const crate = isName(name) ? await findCrate(db, name) : null
  if (!crate || indexPath(crate.name) !== path) return null
  const [indexed] = await indexFiles(db, [crate.id])
  if (!indexed || indexed.text === null) return null
  const unshown = indexed.unshown.map(
    ({ version, cksum }) =>
      [crateFilePath(crate.name, version), crateKey(crate.name, cksum)] as const,
  )
  return { text: indexed.text, unshown: new Map(unshown) }
}
