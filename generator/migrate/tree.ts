import { resolve } from 'node:path'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { refuse } from '../../core/error/error.ts'
import { crateFilePath, crateKey, releaseOfPath } from '../../core/paths/crates.ts'
import { isOwnPath } from '../../core/paths/own.ts'
import { GIT_INDEX_FOLDER, PUSH_FOLDER, publicFile } from '../../core/paths/tree.ts'
import type { Database } from '../database/connection.ts'
import { isOnServer } from '../database/engine.ts'
import { clearMirrored, recordMirrored } from '../deploy/complete-mirror.ts'
import { isComplete, recordComplete } from '../pages/build.ts'
import { pagesNote } from '../pages/claim.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { Mirror } from '../places/mirror.ts'
import type { PathRange, Place } from '../places/place.ts'
import { PublicTree } from '../places/public-tree.ts'
import { isBucketTree, openBucket, sharedPlace } from '../places/storage.ts'
import { sync } from '../places/sync.ts'
import type { Progress } from '../projections/context.ts'
import { unfollowForGit } from '../records/git-batch.ts'
import { keyAtPath } from '../records/releases.ts'
import type { ReleaseBytes } from '../records/releases-stored.ts'
import { type Registry, serveHolder } from '../registry/registry.ts'

export interface TreeCopy {
  /**
   * Makes it equal to the tree, but for the `.crate` files; returns how many files differed. What
   * was equal before and has not changed since `after` is not read again.
   */
  update(after: Date | null, progress?: Progress): Promise<number>
  /** Shows the `.crate` of a release that is in the crate store of the copy. */
  show(release: ReleaseBytes): Promise<void>
  /** Notes in the moved records that the tree is complete except for marked files. */
  recordShown(records: Database): Promise<void>
}

/** Parts of a tree that are compared one by one, some at a time: none has much of a large one. */
const RANGES = [
  '',
  ...Array.from('abcdefghijklmnopqrstuvwxyz', letter => `crates/${letter}`),
  'crates0',
].map((after, at, starts): PathRange => ({ after, before: starts[at + 1] ?? '\uffff' }))
const AT_ONCE = 4

const SEEN = 500

/**
 * The clock of a storage may differ from ours by this: beyond it, the storage refuses all requests.
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
  const to = await openBucket(place, storage, env)
  const folder = resolve(dir, place)
  const isSame = to
    ? to.name === (tree.shared ?? tree.mirror?.bucket)?.name
    : !tree.shared && folder === tree.root
  if (isSame) refuse('migrate_public_same', { place: to?.name ?? folder })
  // There the daemon has what is not in its bucket yet, and takes what is gone there for removed.
  if (!to && folder === tree.root && serveHolder(dir) !== null)
    refuse('migrate_public_served', { folder })
  if (!(await isComplete(registry))) refuse('migrate_tree_incomplete', { dir })
  const here = new FolderPlace(tree.root, { sync: 'never' })
  const source = tree.shared ?? here
  const there = new PublicTree(folder, 'each')
  const within: TreeUpdate['within'] = async work => {
    if (to) return work(to)
    const batch = there.newBatch()
    await work(new FolderPlace(folder, { sync: batch }))
    await batch.sync()
  }
  const isShown = async (path: string) => (await keyAtPath(database, path)) !== null
  const mirror = to && new Mirror(to, here, registry.crates)
  const recordPages = await pagesNote(registry)
  return {
    update: (after, progress) => updateTree({ source, within, after, isShown }, progress),
    show: async ({ name, version, cksum }) => {
      const [path, key] = [crateFilePath(name, version), crateKey(name, cksum)]
      const shown = { files: [], stored: new Map([[path, key]]), gone: new Map() }
      if (mirror) return mirror.update(shown)
      // In a folder it is another name of the file in the crate store, if that has files.
      const file = crates.path(key)
      if (file !== null) await there.show(publicFile(path), file)
    },
    recordShown: async records => {
      const isTree = isBucketTree(isOnServer(records), crates)
      const shared = isTree ? to : null
      const copy = { shared, place: shared?.name ?? sharedPlace(place) }
      await recordComplete(records, { crates, tree: copy })
      await recordPages(records, copy)
      if (to && !isTree) await recordMirrored(records, to.name)
      else await clearMirrored(records)
      // There may be a git index with an unknown state.
      await unfollowForGit(records)
    },
  }
}

interface TreeUpdate {
  readonly source: Place
  /** Runs work on the copy, which then is on disk. */
  readonly within: (work: (target: Place) => Promise<void>) => Promise<void>
  readonly after: Date | null
  readonly isShown: (path: string) => Promise<boolean>
}

/** Makes a tree equal to another one as `TreeCopy.update` does. Removes no files of others. */
async function updateTree(update: TreeUpdate, progress?: Progress): Promise<number> {
  const { source, within, after, isShown } = update
  const since = after === null ? Number.NEGATIVE_INFINITY : after.getTime() - CLOCKS_MS
  let [seen, changed] = [0, 0]
  const updateRange = async (range: PathRange, target: Place) => {
    const { uploaded, removed } = await sync(source, target, {
      brings: path => isOfTree(path) && !releaseOfPath(path),
      removes: async path =>
        isOfTree(path) && isOwnPath(path) && !(releaseOfPath(path) && (await isShown(path))),
      range,
      since,
      progress: () => {
        if (++seen % SEEN === 0) progress?.('comparing the public tree', seen, 0)
      },
    })
    changed += uploaded.length + removed.length
  }
  await forEachConcurrently(RANGES, range => within(target => updateRange(range, target)), AT_ONCE)
  return changed
}

/** Returns whether a file is copied: a git index has a history, and each place its own one. */
function isOfTree(path: string): boolean {
  const [top] = path.split('/')
  return top !== GIT_INDEX_FOLDER && top !== PUSH_FOLDER
}
