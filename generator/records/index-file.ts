import { isName } from '../../core/name.ts'
import { crateFilePath, crateKey, releaseOfFolder, releaseOfPath } from '../../core/paths/crates.ts'
import { indexPath } from '../../core/paths/tree.ts'
import type { Queries } from '../database/statement.ts'
import type { IndexFile } from '../places/mirror.ts'
import { findCrate } from './crates.ts'
import { findRelease, indexFiles } from './releases.ts'

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

/** Returns the key of the release whose `.crate` or folder is at a path; null when there is none. */
export async function keyAtPath(db: Queries, path: string): Promise<string | null> {
  const release = releaseOfPath(path) ?? releaseOfFolder(path)
  const crate = release && (await findCrate(db, release.name))
  const existing = crate && (await findRelease(db, crate.id, release.version))
  if (!existing || crate.name !== release.name || existing.version !== release.version) return null
  return crateKey(crate.name, existing.cksum)
}
