import { posix } from 'node:path'
import { Mutex } from '../../../core/async/mutex.ts'
import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import { crateFilePath, crateFolder, crateKey } from '../../../core/paths/crates.ts'
import { indexPath, output, publicFile } from '../../../core/paths/tree.ts'
import { disk } from '../../places/disk/disk.ts'
import { fileChecksum } from '../../places/disk/files.ts'
import { isMissing, type ShownFile, type TextFile } from '../../places/disk/steps.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import type { SyncBatch } from '../../places/sync-batch.ts'
import { currentMarks, type Mark, markAgain, marksOf, settleMarks } from '../../records/marks.ts'
import { deletedVersions, type IndexedCrate, indexFiles } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'
import { isInCrate } from '../projection.ts'

/** The most marks that wait for a common sync: creating files takes much longer while one runs. */
const MARKS_MAX = 250_000

/** The most changed files that wait for it, whose paths are in memory; uploads need not wait. */
const FILES_MAX = 250_000
const UPLOADED_MAX = 10_000

/**
 * Shows crates in the public tree, and has the files of many synced at once. Rendered files need
 * not be on disk when a publish is answered: their marks stay until `settle`, and after a crash the
 * next start shows these crates again.
 */
export class IndexWriter {
  readonly #context: BuildContext
  readonly #batch: SyncBatch
  readonly #settling = new Mutex()
  readonly #swept: Set<string> | null
  #marks: Mark[] = []

  /** `sweeps`: whether half-written files are removed from each folder before its first change. */
  constructor(context: BuildContext, sweeps = false) {
    this.#context = context
    this.#swept = sweeps ? new Set() : null
    this.#batch = context.tree.newBatch()
  }

  /** The public tree, whose changes are synced by `settle`. */
  get tree(): PublicTree {
    return this.#context.tree.within(this.#batch)
  }

  /** Whether so much waits that it should be settled. */
  get isFull(): boolean {
    const { mirror, shared } = this.#context.tree
    const most = (mirror ?? shared) ? UPLOADED_MAX : FILES_MAX
    return this.#marks.length >= MARKS_MAX || this.#batch.size >= most
  }

  /**
   * Shows the `.crate` files of crates, then writes their index files, so that no line precedes its
   * `.crate`. Returns why some could not be shown, by crate. The caller holds the mutex.
   */
  async show(crates: readonly IndexedCrate[]): Promise<ReadonlyMap<number, unknown>> {
    this.#guard(crates.map(crate => crate.id))
    const folders = this.#unswept(crates)
    const failures = new Map<number, unknown>()
    await this.#show(crates, folders).catch(async () => {
      // One of them cannot be shown, or none.
      for (const crate of crates) {
        const own = folders.filter(folder => folder === posix.dirname(indexPath(crate.name)))
        await this.#show([crate], own).catch(async (error: unknown) => {
          failures.set(crate.id, (await this.#lost(crate, error)) ?? error)
        })
      }
    })
    for (const crate of crates)
      if (!failures.has(crate.id)) this.#rendered([...crate.unshown, indexMark(crate)])
    return failures
  }

  /**
   * Shows all of a crate regardless of marks, and removes the files of its folder that no
   * projection has for it. Returns lost `.crate` files as issues and shows the rest without them.
   * The caller holds the mutex.
   */
  async showWhole(crateId: number): Promise<Issue[]> {
    const { database } = this.#context
    this.#guard([crateId])
    // Read before the releases: a later change sets a new mark.
    const both = ['index', 'whole'].map(kind => ({ kind, subject: crateId }))
    const own = await currentMarks(database, both)
    const [crate] = await indexFiles(database, [crateId], 'all')
    if (!crate) return []
    const { tree } = this
    const { name, text, unshown } = crate
    for (const folder of this.#unswept([crate])) await tree.sweep(folder)
    const lost: Issue[] = []
    for (const release of unshown)
      if (!(await this.#showSound(crate, release)))
        lost.push(issue('crate_lost', { name, version: release.version }))
    if (text !== null) await tree.write(output(indexPath(name), text))
    else await tree.remove(indexPath(name))
    const versions = new Set(unshown.map(release => release.version))
    for await (const path of tree.list(crateFolder(name)))
      if (!isInCrate(this.#context, path, { name, versions })) await tree.remove(path)
    // Where they are not listed: in a mirror, in the caches of a CDN.
    for (const version of tree.isFollowed ? await deletedVersions(database, name) : []) {
      if (versions.has(version)) continue
      await tree.remove(crateFilePath(name, version))
      await tree.removeFolder(`${crateFolder(name)}/${version}`)
    }
    if (lost.length === 0) this.#rendered([...own, ...unshown])
    return lost
  }

  #rendered(marks: readonly Mark[]): void {
    for (const mark of marks) this.#marks.push(mark)
  }

  /** Another process that is given the mutex meanwhile may render these crates newer. */
  #guard(ids: readonly number[]): void {
    const { database, mutex } = this.#context
    mutex.ifLost(() => markAgain(database, marksOf('whole', ids)))
  }

  /** Returns the folders of index files that are to be swept now, each of them once. */
  #unswept(crates: readonly IndexedCrate[]): string[] {
    const swept = this.#swept
    if (!swept) return []
    const folders = new Set(crates.map(({ name }) => posix.dirname(indexPath(name))))
    const unswept = [...folders].filter(folder => !swept.has(folder))
    for (const folder of unswept) swept.add(folder)
    return unswept
  }

  /** Shows a `.crate`; returns false if its bytes are lost, and leaves what is shown. */
  async #showSound(
    { name }: IndexedCrate,
    { version, cksum }: IndexedCrate['unshown'][number],
  ): Promise<boolean> {
    const { tree } = this
    const place = publicFile(crateFilePath(name, version))
    const source = this.#context.crates.path(crateKey(name, cksum))
    if (source === null) await tree.showStored(place, crateKey(name, cksum))
    // Damaged bytes never replace what may be the last good copy.
    else if (
      (await disk.run('isSameFile', tree.path(place.path), source)) ||
      (await fileChecksum(source)) === cksum
    )
      await tree.show(place, source)
    else return false
    return true
  }

  /** Syncs what was rendered, then clears its marks; runs one call at a time. */
  settle(): Promise<void> {
    return this.#settling.run(async () => {
      const marks = this.#marks
      this.#marks = []
      await this.#batch.sync()
      for (let at = 0; at < marks.length; at += 1000)
        await settleMarks(this.#context.database, marks.slice(at, at + 1000))
    })
  }

  async #show(crates: readonly IndexedCrate[], folders: readonly string[]): Promise<void> {
    const { tree } = this
    const texts: TextFile[] = []
    const files: ShownFile[] = []
    for (const { name, text, unshown } of crates) {
      for (const { version, cksum } of unshown) {
        const place = publicFile(crateFilePath(name, version))
        const key = crateKey(name, cksum)
        const source = this.#context.crates.path(key)
        // A daemon answers for entries that are not in files.
        if (source === null) await tree.showStored(place, key)
        else files.push({ path: place.path, source })
      }
      const path = indexPath(name)
      if (text !== null) texts.push({ path, text })
      else {
        // Cargo understands that a file is missing, but takes an empty one for a broken index.
        await tree.sweep(posix.dirname(path))
        await tree.remove(path)
      }
    }
    await tree.writeAll(texts, folders, files)
  }

  /** Returns a refusal if a crate cannot be shown because bytes of it are lost. */
  async #lost({ name, unshown }: IndexedCrate, error: unknown): Promise<Refusal | null> {
    if (!isMissing(error)) return null
    for (const { version, cksum } of unshown)
      if ((await this.#context.crates.size(crateKey(name, cksum))) === null)
        return new Refusal([issue('crate_lost', { name, version })])
    return null
  }
}

/** Returns the mark of the index file of a crate, as the crate was read. */
export function indexMark({ id, generation }: IndexedCrate): Mark {
  return { kind: 'index', subject: id, generation }
}
