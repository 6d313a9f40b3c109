import { posix } from 'node:path'
import { Mutex } from '../../../core/async/mutex.ts'
import { issue, Refusal } from '../../../core/error/error.ts'
import { crateFilePath, crateKey } from '../../../core/paths/crates.ts'
import { indexPath, publicFile } from '../../../core/paths/tree.ts'
import { isMissing, type ShownFile, type TextFile } from '../../places/disk/steps.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import type { SyncBatch } from '../../places/sync-batch.ts'
import { type Mark, settleMarks } from '../../records/marks.ts'
import type { IndexedCrate } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'
import { guardCrates } from './crate.ts'

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
  #marks: Mark[] = []

  constructor(context: BuildContext) {
    this.#context = context
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
   * `.crate`; first removes half-written files from `folders`. Returns why some could not be shown,
   * by crate. The caller holds the mutex.
   */
  async show(
    crates: readonly IndexedCrate[],
    folders: readonly string[] = [],
  ): Promise<ReadonlyMap<number, unknown>> {
    guardCrates(
      this.#context,
      crates.map(crate => crate.id),
    )
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
      if (!failures.has(crate.id)) this.rendered([...crate.unshown, indexMark(crate)])
    return failures
  }

  /** Clears the marks of rendered files once these are on disk. */
  rendered(marks: readonly Mark[]): void {
    for (const mark of marks) this.#marks.push(mark)
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
