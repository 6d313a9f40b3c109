import { posix } from 'node:path'
import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { Mutex } from '../../../core/async/mutex.ts'
import { refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateFilePath, crateKey } from '../../../core/paths/crates.ts'
import { indexPath, publicFile } from '../../../core/paths/tree.ts'
import type { TextFile } from '../../places/disk/steps.ts'
import { isMissing } from '../../places/disk/steps.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import type { SyncBatch } from '../../places/sync-batch.ts'
import { type Mark, settleMarks } from '../../records/marks.ts'
import type { FileMark, IndexedCrate } from '../../records/releases.ts'
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
    const { tree } = this
    const failures = new Map<number, unknown>()
    const texts: [id: number, file: TextFile][] = []
    await forEachConcurrently(crates, async ({ id, name, text, unshown }) => {
      try {
        await forEachConcurrently(unshown, file => this.#showFile(tree, name, file))
        const path = indexPath(name)
        if (text !== null) texts.push([id, { path, text }])
        else {
          // Cargo understands that a file is missing, but takes an empty one for a broken index.
          await tree.sweep(posix.dirname(path))
          await tree.remove(path)
        }
      } catch (error) {
        failures.set(id, error)
      }
    })
    const write = (some: typeof texts) =>
      tree.writeAll(
        some.map(([, file]) => file),
        folders,
      )
    await write(texts).catch(async () => {
      // One of them cannot be written, or none.
      for (const text of texts)
        await write([text]).catch((own: unknown) => failures.set(text[0], own))
    })
    for (const crate of crates)
      if (!failures.has(crate.id)) this.rendered([...crate.unshown, indexMark(crate)])
    return failures
  }

  /** Clears marks when what was rendered until now is on disk. */
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

  async #showFile(tree: PublicTree, name: Name, { version, cksum }: FileMark): Promise<void> {
    const { crates } = this.#context
    const key = crateKey(name, cksum)
    const source = crates.path(key)
    const place = publicFile(crateFilePath(name, version))
    // A daemon answers what is not in files.
    if (source === null) return tree.showStored(place, key)
    try {
      await tree.show(place, source)
    } catch (error) {
      if (isMissing(error) && (await crates.size(key)) === null)
        refuse('crate_lost', { name, version })
      throw error
    }
  }
}

/** Returns the mark of the index file of a crate, as the crate was read. */
export function indexMark({ id, generation }: IndexedCrate): Mark {
  return { kind: 'index', subject: id, generation }
}
