import { crateFilePath, crateKey } from '../../core/paths/crates.ts'
import type { Progress } from '../build/build.ts'
import type { Registry } from '../registry.ts'
import { eachCrate } from '../store/catalog/crates.ts'
import { readFact, writeFact } from '../store/catalog/facts.ts'
import { listReleases } from '../store/catalog/releases.ts'
import type { Queries } from '../store/database/statement.ts'
import type { Mirror } from '../store/mirror.ts'
import { stageOf } from '../store/upload-order.ts'

/** The fact that says which bucket has the whole tree. */
const MIRRORED = 'mirrored'

/** So many files are uploaded together. */
const CHUNK = 1000

/**
 * Returns whether the bucket of `storage.public` has had the whole tree; true without one, and for
 * one that is the tree itself.
 */
export async function isMirrored({ database, tree }: Registry): Promise<boolean> {
  if (tree.mirror === null || tree.shared) return true
  return (await readFact(database, MIRRORED)) === tree.mirror.place
}

/**
 * Uploads what the bucket of `storage.public` lacks or has otherwise; lists it once. Changes of the
 * tree meanwhile are uploaded as ever. Stops when `signal` says so; the next call goes on.
 */
export async function completeMirror(
  registry: Registry,
  progress?: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const { database, tree } = registry
  const { mirror } = tree
  if (mirror === null || mirror.isShared) return
  await writeFact(database, MIRRORED, null)
  await uploadTree(registry, mirror, progress, signal)
  await noteMirrored(database, mirror.place)
}

/** Records that the bucket at `place` has the whole tree. */
export function noteMirrored(db: Queries, place: string): Promise<void> {
  return writeFact(db, MIRRORED, place)
}

/** Uploads what a bucket lacks of a tree, or has otherwise, as `completeMirror` does. */
export async function uploadTree(
  { crates, database, tree }: Registry,
  mirror: Mirror,
  progress?: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const listed = await mirror.learn()
  const none = new Map()
  let done = 0
  const upload = async (files: readonly string[], stored: ReadonlyMap<string, string> = none) => {
    signal?.throwIfAborted()
    await mirror.update({ files, stored, gone: none }, listed)
    done += files.length + stored.size
    progress?.('uploading files', done, 0)
  }
  if (crates.path('') === null) {
    for await (const { id, name } of eachCrate(database)) {
      const releases = await listReleases(database, id)
      const keys = releases.map(
        ({ version, cksum }) => [crateFilePath(name, version), crateKey(name, cksum)] as const,
      )
      await upload([], new Map(keys))
    }
  }
  const stages: string[][] = [[], [], []]
  for await (const path of tree.list()) stages[stageOf(path)]?.push(path)
  for (const paths of stages)
    for (let at = 0; at < paths.length; at += CHUNK) await upload(paths.slice(at, at + CHUNK))
}
