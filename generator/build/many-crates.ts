import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type Issue, Refusal } from '../../core/error/error.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { disk } from '../places/disk/disk.ts'
import { isBucketRefusal, isStorageRefusal } from '../places/disk/fault.ts'
import type { TextFile } from '../places/disk/steps.ts'
import type { SyncBatch } from '../places/sync-batch.ts'
import { eachCrate } from '../store/catalog/crates.ts'
import {
  clearMarks,
  type FileMark,
  fileMarks,
  type IndexMark,
  lastIndexMark,
  listIndexMarks,
  type Mark,
  postponeMark,
} from '../store/catalog/marks.ts'
import { indexFiles } from '../store/catalog/releases.ts'
import { type BuildContext, markOf, renderWhole, showFiles } from './crate.ts'

/** How long a turn of the process mutex lasts, in milliseconds: publishes get in between. */
const TURN_MS = 200

/** The most crates, and about the most versions, that are read by one statement. */
const CRATES = 100
const VERSIONS = 500

/** So many marks wait for a common sync: creating files takes much longer while one runs. */
const MARKS = 250_000

/** So many changed files wait for it, whose paths are in memory; uploads have no need to wait. */
const FILES = 250_000
const UPLOADED_FILES = 10_000

/** With so many crates, a thread that writes some while others are read is worth its start. */
const THREAD_FROM = 500

/** The result of a build of many crates. */
interface Many {
  readonly crates: number
  readonly issues: readonly Issue[]
}

/**
 * Renders every crate that has an `index` mark when this begins; the issues of one do not stop the
 * others. Crates that are published meanwhile have somebody who renders them, and could be followed
 * without end.
 */
export async function buildMarked(
  context: BuildContext,
  progress: (done: number, total: number) => void,
): Promise<Many> {
  const many = new ManyCrates(context)
  const issues: Issue[] = []
  let crates = 0
  const waiting: IndexMark[] = []
  const last = await lastIndexMark(context.database)
  for (let after = 0; ; ) {
    const marks = await listIndexMarks(context.database, after, last)
    if (marks.length === 0) break
    if (marks.length >= THREAD_FROM) disk.useThread()
    after = marks.at(-1)?.subject ?? after
    waiting.push(...marks)
    while (waiting.length > 0) {
      await many.turn(async tree => {
        const some = nextOf(waiting)
        issues.push(...(await many.renderMarked(tree, some)))
        crates += some.length
        progress(crates, crates + waiting.length)
        return waiting.length > 0
      })
    }
  }
  await many.finish()
  return { crates, issues }
}

/** Renders every crate again regardless of marks, as `rebuildCrate` does. */
export async function rebuildAll(
  context: BuildContext,
  progress: (done: number) => void,
): Promise<Many> {
  const many = new ManyCrates(context)
  const issues: Issue[] = []
  let crates = 0
  const all = eachCrate(context.database)[Symbol.asyncIterator]()
  for (let isMore = true; isMore; ) {
    await many.turn(async tree => {
      const next = await all.next()
      if (next.done) {
        isMore = false
        return false
      }
      const crate = next.value
      for (const folder of many.unswept([indexPath(crate.name)])) await tree.sweep(folder)
      const { lost, marks } = await renderWhole({ ...context, tree }, crate)
      many.rendered(marks)
      issues.push(...lost)
      progress(++crates)
      return true
    })
  }
  await many.finish()
  return { crates, issues }
}

/** Removes and returns the marks of the crates that are read together. */
function nextOf(waiting: IndexMark[]): IndexMark[] {
  let [crates, versions] = [0, 0]
  while (crates < Math.min(CRATES, waiting.length) && versions < VERSIONS)
    versions += waiting[crates++]?.versions ?? 0
  return waiting.splice(0, crates)
}

/** Renders crates in turns of the process mutex; syncs the files of many at once. */
class ManyCrates {
  readonly #context: BuildContext
  readonly #batch: SyncBatch
  readonly #filesMax: number
  readonly #swept = new Set<string>()
  #marks: Mark[] = []
  #writing: Promise<void> = Promise.resolve()
  #settling: Promise<void> = Promise.resolve()
  /** Why a copy of the tree could not follow; the tree itself is rendered all the same. */
  #failure: unknown = null

  constructor(context: BuildContext) {
    this.#context = context
    this.#batch = context.tree.newBatch()
    this.#filesMax = (context.tree.mirror ?? context.tree.shared) ? UPLOADED_FILES : FILES
  }

  /** Repeats `work` while it returns true, in one turn of the mutex. */
  async turn(work: (tree: BuildContext['tree']) => Promise<boolean>): Promise<void> {
    const { mutex, tree } = this.#context
    await mutex.run(async () => {
      const end = performance.now() + TURN_MS
      try {
        while ((await work(tree.within(this.#batch))) && performance.now() < end)
          // Without a thread for the disk nothing else would leave the event loop to others.
          await setImmediate()
      } finally {
        await this.#writing
      }
    })
    const { size } = this.#batch
    if (this.#marks.length >= MARKS || size >= this.#filesMax) await this.#settle()
  }

  /** Marks to clear when their files are on disk. */
  rendered(marks: readonly Mark[]): void {
    for (const mark of marks) this.#marks.push(mark)
  }

  /** Renders marked crates; returns their issues. A full disk or a bug ends the build. */
  async renderMarked(
    tree: BuildContext['tree'],
    marks: readonly IndexMark[],
  ): Promise<readonly Issue[]> {
    const context = { ...this.#context, tree }
    const { database } = context
    const ids = marks.map(one => one.subject)
    // Lines are read first: a release added in between then gets its `.crate` before its line.
    const crates = await indexFiles(database, ids)
    const files = new Map<number, FileMark[]>(ids.map(id => [id, []]))
    for (const mark of await fileMarks(database, ids)) files.get(mark.crateId)?.push(mark)
    const failures: [Mark, Refusal][] = []
    const texts: TextFile[] = []
    const done: Mark[] = []
    const render = async (crate: (typeof crates)[number]) => {
      const path = indexPath(crate.name)
      const shown = files.get(crate.id) ?? []
      try {
        await showFiles(context, crate, shown)
        if (crate.text === null) await this.#remove(tree, path)
        else texts.push({ path, text: crate.text })
        done.push(...shown, markOf(crate, 'index'))
      } catch (error) {
        if (!(error instanceof Refusal) || isStorageRefusal(error)) throw error
        failures.push([markOf(crate, 'index'), error])
      }
    }
    const ends = await Promise.allSettled(crates.map(render))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    await this.#write(tree, texts, done)
    for (const [mark, error] of failures) await postponeMark(database, mark, error, context.clock())
    return failures.flatMap(([, error]) => error.issues)
  }

  /**
   * Returns the folders of files from which half-written files are to be removed now. Each is
   * returned once: a folder has the index files of many crates.
   */
  unswept(paths: readonly string[]): string[] {
    const folders = new Set(paths.map(path => posix.dirname(path)))
    const found = [...folders].filter(folder => !this.#swept.has(folder))
    for (const folder of found) this.#swept.add(folder)
    return found
  }

  /** Waits until everything is on disk and its marks are cleared. Throws what a copy failed with. */
  async finish(): Promise<void> {
    await this.#settle()
    await this.#settling
    if (this.#failure !== null) throw this.#failure
  }

  /** Begins to sync what was rendered, when the sync before has ended. */
  async #settle(): Promise<void> {
    await this.#settling
    const marks = this.#marks
    this.#marks = []
    this.#settling = this.#put(marks)
    // Whoever waits for it next throws its error.
    this.#settling.catch(() => undefined)
  }

  async #put(marks: readonly Mark[]): Promise<void> {
    const { mirror } = this.#context.tree
    try {
      await this.#batch.sync()
    } catch (error) {
      if (!mirror || !isBucketRefusal(error)) throw error
      this.#failure ??= error
      return
    }
    for (let at = 0; at < marks.length; at += 1000)
      await clearMarks(this.#context.database, marks.slice(at, at + 1000))
  }

  /** Begins to write index files, when those before are written: the next are read meanwhile. */
  async #write(
    tree: BuildContext['tree'],
    texts: readonly TextFile[],
    marks: readonly Mark[],
  ): Promise<void> {
    await this.#writing
    const folders = this.unswept(texts.map(one => one.path))
    this.#writing = tree.writeAll(texts, folders).then(() => this.rendered(marks))
    // Whoever waits for it next throws its error.
    this.#writing.catch(() => undefined)
  }

  /** Removes an index file, whose folder may become empty, while none is written. */
  async #remove(tree: BuildContext['tree'], path: string): Promise<void> {
    await this.#writing
    await tree.sweep(posix.dirname(path))
    await tree.remove(path)
  }
}
