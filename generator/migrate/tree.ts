import { resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { crateFilePath, crateKey, releaseOfPath } from '../../core/paths/crates.ts'
import { isOwnPath } from '../../core/paths/own.ts'
import { GIT_INDEX_FOLDER, PUSH_FOLDER, placeOf } from '../../core/paths/tree.ts'
import { isComplete, noteComplete, type Progress } from '../build/build.ts'
import { forgetMirror, noteMirrored } from '../deploy/complete-mirror.ts'
import { bucketTarget, type DeployTarget, folderTarget, type ListedFile } from '../deploy/target.ts'
import { pagesNote } from '../pages/claim.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { Mirror } from '../places/mirror.ts'
import { PublicTree } from '../places/public-tree.ts'
import type { KeyRange } from '../places/s3/bucket.ts'
import { openBucket } from '../places/storage.ts'
import { inTurns } from '../places/upload-order.ts'
import { type Registry, serveHolder } from '../registry.ts'
import { unfollowForGit } from '../store/catalog/git-batch.ts'
import { keyAtPath } from '../store/catalog/releases.ts'
import type { Database } from '../store/database/connection.ts'
import { isOnServer } from '../store/database/engine.ts'
import type { StoredRelease } from './crates.ts'

/** A copy of the public tree at another place, for a registry that moves. */
export interface TreeCopy {
  /**
   * Makes it equal to the tree, but for the `.crate` files; returns how many files differed. What
   * was equal before and has not changed since `after` is not read again.
   */
  update(after: Date | null, progress?: Progress): Promise<number>
  /** Shows the `.crate` of a release that is in the crate store of the copy. */
  show(release: StoredRelease): Promise<void>
  /** Records in the records that have moved that the tree is there, but for what is marked. */
  note(records: Database): Promise<void>
}

/** Parts of a tree that are compared one by one, some at a time: none has much of a large one. */
const RANGES: readonly KeyRange[] = rangesBetween([
  '',
  ...Array.from('abcdefghijklmnopqrstuvwxyz', letter => `crates/${letter}`),
  'crates0',
])
const AT_ONCE = 4

/** So many files are read at a time, with their bytes in memory. */
const CHUNK = 500

/**
 * Changes are looked for from so many milliseconds before they can have been made: a storage whose
 * clock is further from ours refuses all requests.
 */
const CLOCKS_MS = 15 * 60_000

/**
 * Returns the copy of a registry's tree at a place, whose crate store will be `crates`. Refuses a
 * tree that is there already, or is not complete, and a folder in use.
 */
export async function copyTree(
  registry: Registry,
  place: string,
  crates: CrateStore,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TreeCopy> {
  const { dir, database, settings, tree } = registry
  const { storage } = settings
  const open = async (at: string) => openBucket(at, storage, env)
  const [to, from] = [await open(place), tree.shared && (await open(storage.public))]
  const folder = resolve(dir, place)
  const isSame = to ? to.place === tree.mirror?.place : !from && folder === tree.root
  if (isSame) refuse('migrate_public_same', { place: to?.place ?? folder })
  // There the daemon has what is not in its bucket yet, and takes what is gone there for removed.
  if (!to && folder === tree.root && serveHolder(dir) !== null)
    refuse('migrate_public_served', { folder })
  if (!(await isComplete(registry))) refuse('migrate_tree_incomplete', { dir })
  const seconds = storage.cache_seconds
  const source = from ? bucketTarget(from, seconds) : folderTarget(tree.root)
  const there = new PublicTree(folder, 'each')
  const within: TreeUpdate['within'] = to
    ? work => work(bucketTarget(to, seconds))
    : work => there.batch(tree => work(folderTarget(folder, tree)))
  const isShown = async (path: string) => (await keyAtPath(database, path)) !== null
  const mirror = to && new Mirror(to, tree.root, registry.crates, { cacheSeconds: seconds })
  const notePages = await pagesNote(registry)
  return {
    update: (after, progress) => updateTree({ source, within, after, isShown }, progress),
    show: async ({ name, version, cksum }) => {
      const [path, key] = [crateFilePath(name, version), crateKey(name, cksum)]
      const shown = { files: [], stored: new Map([[path, key]]), gone: new Map() }
      if (mirror) return mirror.update(shown)
      // In a folder it is another name of the file in the crate store, if that has files.
      const file = crates.path(key)
      if (file !== null) await there.show(placeOf(path), file)
    },
    note: async records => {
      const isShared = to !== null && isOnServer(records) && crates.path('') === null
      const shared = isShared ? to.place : undefined
      await noteComplete(records, shared)
      await notePages(records, shared ?? null)
      if (to && !isShared) await noteMirrored(records, to.place)
      else await forgetMirror(records)
      // What the git index there has, if there is one, nobody knows.
      await unfollowForGit(records)
    },
  }
}

interface TreeUpdate {
  readonly source: DeployTarget
  /** Runs work on the copy, which then is on disk. */
  readonly within: (work: (target: DeployTarget) => Promise<void>) => Promise<void>
  readonly after: Date | null
  /** Returns whether the records have the release of a `.crate` at this path. */
  readonly isShown: (path: string) => Promise<boolean>
}

/** Makes a tree equal to another one as `TreeCopy.update` does. Removes no files of others. */
async function updateTree(update: TreeUpdate, progress?: Progress): Promise<number> {
  const { source, within, after, isShown } = update
  const since = after === null ? Number.NEGATIVE_INFINITY : after.getTime() - CLOCKS_MS
  let [seen, changed] = [0, 0]
  const updateRange = async (range: KeyRange, target: DeployTarget) => {
    const left = new Map<string, ListedFile>()
    for await (const file of target.list(range)) if (isOfTree(file.path)) left.set(file.path, file)
    const copy = async ([here, there]: readonly [ListedFile, ListedFile | undefined]) => {
      const bytes = await source.read(here.path)
      if (!bytes || (there && (await target.has(there, bytes)))) return
      await target.put(here.path, bytes)
      changed++
    }
    const some: Parameters<typeof copy>[0][] = []
    for await (const file of source.list(range)) {
      const { path } = file
      if (!isOfTree(path) || releaseOfPath(path)) continue
      const there = left.get(path)
      left.delete(path)
      if (++seen % CHUNK === 0) progress?.('comparing the public tree', seen, 0)
      if (there?.size === file.size && file.changed < since) continue
      if (some.push([file, there]) === CHUNK) await inTurns(some.splice(0), copy)
    }
    await inTurns(some, copy)
    for (const path of left.keys()) {
      if (!isOwnPath(path) || (releaseOfPath(path) && (await isShown(path)))) continue
      await target.remove(path)
      changed++
    }
  }
  await inTurns(RANGES, range => within(target => updateRange(range, target)), AT_ONCE)
  return changed
}

/** Returns whether a file is copied: a git index has a history, and each place its own one. */
function isOfTree(path: string): boolean {
  const [top] = path.split('/')
  return top !== GIT_INDEX_FOLDER && top !== PUSH_FOLDER
}

function rangesBetween(starts: readonly string[]): KeyRange[] {
  return starts.map((after, at) => ({ after, before: starts[at + 1] ?? '\uffff' }))
}
