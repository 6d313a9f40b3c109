import { setImmediate } from 'node:timers/promises'
import { type Issue, Refusal } from '../../../core/error/error.ts'
import type { Queries } from '../../database/statement.ts'
import { disk } from '../../places/disk/disk.ts'
import { isBucketRefusal, isStorageRefusal } from '../../places/disk/fault.ts'
import { crateRecords, eachCrate } from '../../records/crates.ts'
import {
  type IndexMark,
  lastIndexMark,
  listIndexMarks,
  listMarks,
  postponeMark,
} from '../../records/marks.ts'
import { type IndexedCrate, indexFiles } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'
import { IndexWriter, indexMark } from './index-writer.ts'

/** How long a turn of the process mutex lasts, in milliseconds: publishes get in between. */
const TURN_MS = 200

/** The most crates, and about the most versions, that are read by one statement. */
const CRATES = 100
const VERSIONS = 500

/** A thread that writes while others read pays for its start from this many crates on. */
const THREAD_FROM = 500

/** The result of a build. */
export interface Built {
  readonly crates: number
  /** The crates that could not be rendered; everything else was. */
  readonly issues: readonly Issue[]
}

/** Crates that are read by one statement, or one that is shown whole; how many are left then. */
interface Slice {
  readonly ids: readonly number[]
  readonly isWhole: boolean
  readonly left: number
}

/** Yields every crate, to be shown whole. */
export async function* everyCrate(db: Queries): AsyncIterable<Slice> {
  let left = await crateRecords(db)
  for await (const { id } of eachCrate(db)) yield { ids: [id], isWhole: true, left: --left }
}

/**
 * Yields what is marked when this begins: crates that are published meanwhile have somebody who
 * renders them, and could be followed without end.
 */
export async function* markedCrates(db: Queries): AsyncIterable<Slice> {
  for (const { subject } of await listMarks(db, 'whole'))
    yield { ids: [subject], isWhole: true, left: 0 }
  const last = await lastIndexMark(db)
  for (let after = 0; ; ) {
    const waiting = await listIndexMarks(db, after, last)
    if (waiting.length >= THREAD_FROM) disk.useThread()
    after = waiting.at(-1)?.subject ?? last
    while (waiting.length > 0) {
      const ids = nextOf(waiting).map(mark => mark.subject)
      yield { ids, isWhole: false, left: waiting.length }
    }
    if (after >= last) return
  }
}

function nextOf(waiting: IndexMark[]): IndexMark[] {
  let [crates, versions] = [0, 0]
  while (crates < Math.min(CRATES, waiting.length) && versions < VERSIONS)
    versions += waiting[crates++]?.versions ?? 0
  return waiting.splice(0, crates)
}

/**
 * Shows crates in turns of the process mutex; the next ones are read while some are written. The
 * issues of one do not stop the others.
 */
export async function showInTurns(
  context: BuildContext,
  slices: AsyncIterable<Slice>,
  progress: (done: number, total: number) => void,
): Promise<Built> {
  const writer = new IndexWriter(context, true)
  const queue = slices[Symbol.asyncIterator]()
  const issues: Issue[] = []
  let crates = 0
  const read = async () => {
    const { done, value } = await queue.next()
    if (done) return null
    const { ids, isWhole, left } = value
    const changes = isWhole ? [] : await indexFiles(context.database, ids)
    return async () => {
      const failures = await writer.show(changes)
      for (const id of isWhole ? ids : []) issues.push(...(await writer.showWhole(id)))
      issues.push(...(await postpone(context, changes, failures)))
      crates += ids.length
      progress(crates, crates + left)
      const errors = [...failures.values()].filter(error => !isPostponed(error))
      if (errors.length > 0) throw errors.find(isStorageRefusal) ?? errors[0]
    }
  }
  await inBatches(context, writer, read)
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

/** Reads until `read` returns null: it returns what writes those that it has read. */
async function inBatches(
  context: BuildContext,
  writer: IndexWriter,
  read: () => Promise<(() => Promise<void>) | null>,
): Promise<void> {
  const { mirror } = context.tree
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
          const write = await read()
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
