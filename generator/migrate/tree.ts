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
import { pagesRecord } from '../pages/claim.ts'
import type { CrateStore } from '../places/crate-store.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { Mirror } from '../places/mirror.ts'
import type { FileInfo, PathRange, Place } from '../places/place.ts'
import { PublicTree } from '../places/public-tree.ts'
import { isBucketTree, openBucket, sharedPlace } from '../places/storage.ts'
import { sync } from '../places/sync.ts'
import type { Progress } from '../projections/context.ts'
import { unfollowForGit } from '../records/git-batch.ts'
import { keyAtPath } from '../records/releases.ts'
import { lastDeletion, type ReleaseBytes } from '../records/releases-stored.ts'
import { type Registry, serveHolder } from '../registry/registry.ts'

export interface TreeCopy {
  /**
   * Makes it equal to the tree, but for the `.crate` files. The next time, the tree is listed
   * again, and only what has changed is read; the copy is listed only where something was removed.
   * Returns how many files it wrote.
   */
  update(progress?: Progress): Promise<number>
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
  const within: Within = async work => {
    if (to) return work(to)
    const batch = there.newBatch()
    await work(new FolderPlace(folder, { sync: batch }))
    await batch.sync()
  }
  const updates = new TreeUpdates(source, within, database)
  const mirror = to && new Mirror(to, here, registry.crates)
  const recordPages = await pagesRecord(registry)
  return {
    update: progress => updates.run(progress),
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

/** Runs work on the copy, which then is on disk. */
type Within = (work: (target: Place) => Promise<void>) => Promise<void>

/** Makes a copy equal to a tree as `TreeCopy.update` does. Removes no files of others. */
class TreeUpdates {
  readonly #source: Place
  readonly #within: Within
  readonly #database: Database
  /** How many files of a range both have. */
  readonly #counts = new Map<PathRange, number>()
  #deletions: string | null = null
  /** When the last run began, by our clock. */
  #began = Number.NEGATIVE_INFINITY
  /** The newest change that a run has seen, by the clock of the storage, and the run before it. */
  #newest: number | null = null
  #newestBefore = Number.NEGATIVE_INFINITY
  #written = 0

  constructor(source: Place, within: Within, database: Database) {
    this.#source = source
    this.#within = within
    this.#database = database
  }

  async run(progress?: Progress): Promise<number> {
    const began = Date.now()
    const deletions = await lastDeletion(this.#database)
    // A tree without pages has no other file that goes with a version.
    if (deletions !== this.#deletions) this.#counts.clear()
    // What the last run may have missed is as new as the newest file of the run before it.
    const since = Math.min(this.#began, this.#newestBefore)
    let [seen, newest] = [0, 0]
    this.#written = 0
    const onSeen = ({ changed }: FileInfo) => {
      newest = Math.max(newest, changed)
      if (++seen % SEEN === 0) progress?.('comparing the public tree', seen, 0)
    }
    const update = (range: PathRange) =>
      this.#within(target => this.#updateRange(range, target, since, onSeen))
    await forEachConcurrently(RANGES, update, AT_ONCE)
    this.#newestBefore = this.#newest ?? began - CLOCKS_MS
    this.#newest = newest
    this.#began = began
    this.#deletions = deletions
    return this.#written
  }

  async #updateRange(
    range: PathRange,
    target: Place,
    since: number,
    onSeen: (file: FileInfo) => void,
  ): Promise<void> {
    const here: FileInfo[] = []
    for await (const file of this.#source.list('', range)) {
      if (!isOfTree(file.path) || releaseOfPath(file.path)) continue
      onSeen(file)
      here.push(file)
    }
    const before = this.#counts.get(range)
    const changed = here.filter(file => file.changed >= since)
    if (before !== undefined && (await this.#bring(changed, target)) === here.length - before)
      return void this.#counts.set(range, here.length)
    const { uploaded, unchanged } = await sync(this.#source, target, {
      here,
      brings: () => true,
      removes: async path => isOfTree(path) && isOwnPath(path) && !(await this.#isShown(path)),
      range,
      since,
    })
    this.#counts.set(range, uploaded.length + unchanged)
    this.#written += uploaded.length
  }

  /** Brings files to the copy; returns how many it did not have, null if one is gone by now. */
  async #bring(here: readonly FileInfo[], target: Place): Promise<number | null> {
    const there = new Map<string, FileInfo>()
    await forEachConcurrently(here, async ({ path }) => {
      const info = await target.head(path)
      if (info) there.set(path, { path, size: info.size, etag: null, changed: 0 })
    })
    const options = { here, there, brings: () => true, removes: () => false }
    const { uploaded, unchanged } = await sync(this.#source, target, options)
    this.#written += uploaded.length
    return uploaded.length + unchanged === here.length ? here.length - there.size : null
  }

  async #isShown(path: string): Promise<boolean> {
    return releaseOfPath(path) !== null && (await keyAtPath(this.#database, path)) !== null
  }
}

/** Returns whether a file is copied: a git index has a history, and each place its own one. */
function isOfTree(path: string): boolean {
  const [top] = path.split('/')
  return top !== GIT_INDEX_FOLDER && top !== PUSH_FOLDER
}
