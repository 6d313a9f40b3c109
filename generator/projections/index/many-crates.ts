import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type Issue, Refusal } from '../../../core/error/error.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import { disk } from '../../places/disk/disk.ts'
import { isBucketRefusal, isStorageRefusal } from '../../places/disk/fault.ts'
import { eachCrate } from '../../records/crates.ts'
import { type IndexMark, lastIndexMark, listIndexMarks, postponeMark } from '../../records/marks.ts'
import { type IndexedCrate, indexFiles } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'
import { renderWhole } from './crate.ts'
import { IndexWriter, indexMark } from './index-writer.ts'

/** How long a turn of the process mutex lasts, in milliseconds: publishes get in between. */
const TURN_MS = 200

/** The most crates, and about the most versions, that are read by one statement. */
const CRATES = 100
const VERSIONS = 500

/** A thread that writes while others read pays for its start from this many crates on. */
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
  const { database } = context
  const issues: Issue[] = []
  const waiting: IndexMark[] = []
  const last = await lastIndexMark(database)
  const unswept = sweeper()
  let [after, crates] = [0, 0]
  await inTurns(context, async writer => {
    if (waiting.length === 0) {
      waiting.push(...(await listIndexMarks(database, after, last)))
      if (waiting.length >= THREAD_FROM) disk.useThread()
      after = waiting.at(-1)?.subject ?? after
    }
    const some = nextOf(waiting)
    if (some.length === 0) return null
    const ids = some.map(mark => mark.subject)
    const changes = await indexFiles(database, ids)
    return async () => {
      const paths = changes.map(crate => indexPath(crate.name))
      const failures = await writer.show(changes, unswept(paths))
      issues.push(...(await postpone(context, changes, failures)))
      crates += some.length
      progress(crates, crates + waiting.length)
      const errors = [...failures.values()].filter(error => !isPostponed(error))
      if (errors.length > 0) throw errors.find(isStorageRefusal) ?? errors[0]
    }
  })
  return { crates, issues }
}

/** Returns whether an error is about one crate, and an operator can mend it. */
function isPostponed(error: unknown): error is Refusal {
  return error instanceof Refusal && !isStorageRefusal(error)
}

async function postpone(
  { database, clock }: BuildContext,
  crates: readonly IndexedCrate[],
  failures: ReadonlyMap<number, unknown>,
): Promise<readonly Issue[]> {
  const issues: Issue[] = []
  for (const crate of crates) {
    const error = failures.get(crate.id)
    if (!isPostponed(error)) continue
    await postponeMark(database, indexMark(crate), error, clock())
    issues.push(...error.issues)
  }
  return issues
}

/** Renders every crate again regardless of marks, as `rebuildCrate` does. */
export async function rebuildAll(
  context: BuildContext,
  progress: (done: number) => void,
): Promise<Many> {
  const issues: Issue[] = []
  const unswept = sweeper()
  const all = eachCrate(context.database)[Symbol.asyncIterator]()
  let crates = 0
  await inTurns(context, async writer => {
    const next = await all.next()
    if (next.done) return null
    return async () => {
      const { tree } = writer
      for (const folder of unswept([indexPath(next.value.name)])) await tree.sweep(folder)
      const { lost, marks } = await renderWhole({ ...context, tree }, next.value)
      writer.rendered(marks)
      issues.push(...lost)
      progress(++crates)
    }
  })
  return { crates, issues }
}

function nextOf(waiting: IndexMark[]): IndexMark[] {
  let [crates, versions] = [0, 0]
  while (crates < Math.min(CRATES, waiting.length) && versions < VERSIONS)
    versions += waiting[crates++]?.versions ?? 0
  return waiting.splice(0, crates)
}

/**
 * Returns a function that gives the folders of files from which half-written files are to be
 * removed now, each of them once: a folder has the index files of many crates.
 */
function sweeper(): (paths: readonly string[]) => string[] {
  const swept = new Set<string>()
  return paths => {
    const folders = new Set(paths.map(path => posix.dirname(path)))
    const found = [...folders].filter(folder => !swept.has(folder))
    for (const folder of found) swept.add(folder)
    return found
  }
}

/**
 * Reads and writes crates in turns of the process mutex, until `read` returns null: it returns what
 * writes those that it has read. The next ones are read meanwhile.
 */
async function inTurns(
  context: BuildContext,
  read: (writer: IndexWriter) => Promise<(() => Promise<void>) | null>,
): Promise<void> {
  const { mirror } = context.tree
  const writer = new IndexWriter(context)
  // Why a crate could not be rendered, or why a copy of the tree could not follow.
  let failure: unknown = null
  const settle = () =>
    writer.settle().catch((error: unknown) => {
      if (!mirror || !isBucketRefusal(error)) throw error
      failure ??= error
    })
  // A bug in one crate stops no other; a full disk stops all.
  const goOn = (error: unknown) => {
    if (isStorageRefusal(error)) throw error
    failure ??= error
  }
  for (let isMore = true; isMore; ) {
    await context.mutex.run(async () => {
      const end = performance.now() + TURN_MS
      let writing = Promise.resolve()
      try {
        do {
          const write = await read(writer)
          isMore = write !== null
          await writing
          if (write) writing = write().catch(goOn)
          // The next wait throws its error.
          writing.catch(() => undefined)
          // If no thread works for the disk, only this leaves the event loop to others.
          await setImmediate()
        } while (isMore && performance.now() < end)
      } finally {
        await writing
      }
    })
    if (writer.isFull) await settle()
  }
  await settle()
  if (failure !== null) throw failure
}
