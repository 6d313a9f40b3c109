import { type Issue, refuseErrors } from '../../core/error/error.ts'
import { crateFilePath, crateKey } from '../../core/paths/crates.ts'
import { INDEX_FOLDER } from '../../core/paths/tree.ts'
import type { Queries } from '../database/statement.ts'
import { FileRefusal, indexFileAfter } from '../places/s3/refused-files.ts'
import { STAGES, stageOf } from '../places/sync.ts'
import type { Progress } from '../projections/context.ts'
import { eachCrate } from '../records/crates.ts'
import { listReleases } from '../records/releases.ts'
import { readValue, writeValue } from '../records/values.ts'
import type { Registry } from '../registry/registry.ts'

const MIRRORED = 'mirrored'

const CHUNK = 1000

const REFUSED_MAX = 50

/**
 * Returns whether the bucket of `storage.public` has had the whole tree. Without one, or with one
 * that is the tree itself, returns whether no other one counts as whole: it gets no changes.
 */
export async function isMirrored({ database, tree }: Registry): Promise<boolean> {
  return (await readValue(database, MIRRORED)) === (tree.mirror?.bucket.name ?? null)
}

/**
 * Uploads what the bucket of `storage.public` lacks or has otherwise; lists it once. Changes of the
 * tree meanwhile are uploaded as ever. Stops when `signal` says so; the next call goes on. Throws
 * `file_refused` for files that the storage refuses, when all others are there; without pages the
 * tree counts as whole, without a `.crate` or an index file it does not.
 */
export async function completeMirror(
  registry: Registry,
  progress?: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const { database, tree } = registry
  const { mirror } = tree
  await clearMirrored(database)
  if (mirror === null) return
  const listed = await mirror.learn()
  const refused: Issue[] = []
  /** Index files whose `.crate` files are not all there. */
  const hidden = new Set<string>()
  let isWhole = true
  let done = 0
  for await (const part of partsOf(registry, path => hidden.has(path))) {
    signal?.throwIfAborted()
    try {
      await mirror.update(part, listed)
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error
      refused.push(...error.issues.slice(0, REFUSED_MAX - refused.length))
      for (const path of error.paths) {
        const index = indexFileAfter(path)
        if (index) hidden.add(index)
        if (index || stageOf(path) === 1) isWhole = false
      }
    }
    done += part.files.length + part.stored.size
    progress?.('uploading files', done, 0)
  }
  if (isWhole) await recordMirrored(database, mirror.bucket.name)
  refuseErrors(refused)
}

/** Records that the bucket at `place` has the whole tree. */
export function recordMirrored(db: Queries, place: string): Promise<void> {
  return writeValue(db, MIRRORED, place)
}

/** Records that no bucket is known to have the whole tree. */
export function clearMirrored(db: Queries): Promise<void> {
  return writeValue(db, MIRRORED, null)
}

/** Lists a tree once for every stage, some files at a time, so that no list of all is needed. */
async function* partsOf({ crates, database, tree }: Registry, isHidden: (path: string) => boolean) {
  const none = new Map()
  if (!crates.isLocal) {
    for await (const { id, name } of eachCrate(database)) {
      const releases = await listReleases(database, id)
      const keys = releases.map(
        ({ version, cksum }) => [crateFilePath(name, version), crateKey(name, cksum)] as const,
      )
      yield { files: [], stored: new Map(keys), gone: none }
    }
  }
  for (const stage of STAGES) {
    const files: string[] = []
    for await (const path of tree.list(stage === 1 ? INDEX_FOLDER : '')) {
      if (stageOf(path) === stage && !isHidden(path)) files.push(path)
      if (files.length === CHUNK) yield { files: files.splice(0), stored: none, gone: none }
    }
    yield { files, stored: none, gone: none }
  }
}
