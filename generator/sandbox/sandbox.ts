// generator/sandbox: Threads that read what strangers made, within time and memory. They never open
// the records.
import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import { Mutex } from '../../core/async/mutex.ts'
import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import type { Adoption, AdoptParts } from '../../core/release/adopt.ts'
import type { Inspection, InspectParts } from '../../core/release/inspect.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ArchiveFile, ArchiveLimits } from '../../core/tarball/read.ts'
import { unpackedLimit } from '../../core/tarball/recover.ts'
import { pace } from '../database/pace.ts'
import { systemRefusal } from '../places/disk/fault.ts'
import type { LocalFile } from '../places/place.ts'
import type { Content, PublishedCrate, Tasks } from './tasks.ts'
import { SandboxError, type TaskLimits, Thread } from './thread.ts'

/** Ordinary tasks take milliseconds and a few megabytes. */
const LIMITS: TaskLimits = { seconds: 20, megabytes: 256 }

/** The most tasks that may wait for a thread; more are refused. */
const WAITING_MAX = 1000

/** The most tasks of one client that may wait; more are refused. */
const CLIENT_WAITING_MAX = 64

/** Milliseconds of the first task of a thread that no client has to answer for. */
const START_MS = 1000

/** Tasks that clients wait for; all other tasks leave one thread free for them. */
const URGENT: ReadonlySet<string> = new Set<keyof Tasks>(['inspect', 'adopt'])

/** A client; its urgent tasks run one at a time, so that others get their turns. */
export interface Client {
  readonly id: string
  /** Receives the milliseconds of processor time that a task took, even if it failed. */
  readonly onUsed: (milliseconds: number) => void
}

type Input<T extends keyof Tasks> = Parameters<Tasks[T]>[0]
type Result<T extends keyof Tasks> = Awaited<ReturnType<Tasks[T]>>
type Begin = (thread: Thread) => void

/**
 * A small pool of worker threads for all work on untrusted bytes: the event loop is never blocked,
 * and a task that takes too much time or memory ends only its own thread. Threads start with the
 * first tasks and stay; idle threads do not keep the process alive.
 */
export class Sandbox {
  readonly size: number
  readonly #program: URL
  readonly #limits: TaskLimits
  readonly #idle: Thread[] = []
  /** How many tasks clients have, and what gives each its turn; then a task waits for a thread. */
  readonly #clients = new Map<string, { tasks: number; readonly mutex: Mutex }>()
  readonly #urgent: Begin[] = []
  readonly #others: Begin[] = []
  #waiting = 0
  #running = 0
  #othersRunning = 0

  /** `size`: the most concurrent tasks that are not urgent; `program`: the threads' program. */
  constructor({
    size = Math.min(availableParallelism(), 8),
    program = new URL('./worker.js', import.meta.url),
    limits = LIMITS,
  } = {}) {
    this.size = size
    this.#program = program
    this.#limits = limits
  }

  /**
   * Runs a task in a thread. Throws the task's `Refusal`, or a `SandboxError` when it exceeds a
   * limit or fails unexpectedly. Refuses when too many tasks are waiting, in all or of a client.
   */
  async run<T extends keyof Tasks>(task: T, input: Input<T>, client?: Client): Promise<Result<T>> {
    if (this.#waiting >= WAITING_MAX) refuse('sandbox_busy')
    if (!client) return this.#perform(task, input)
    const own = this.#clients.get(client.id) ?? { tasks: 0, mutex: new Mutex() }
    // Besides the one that runs.
    if (own.tasks > CLIENT_WAITING_MAX) refuse('publishes_waiting', { max: CLIENT_WAITING_MAX })
    this.#clients.set(client.id, own)
    own.tasks++
    this.#waiting++
    try {
      return await own.mutex.run(() => {
        this.#waiting--
        return this.#perform(task, input, client)
      })
    } finally {
      own.tasks--
      if (own.tasks === 0) this.#clients.delete(client.id)
    }
  }

  /** Starts a thread if none has, for a task that comes soon: that takes 60 ms. */
  prepare(): void {
    if (this.#running === 0 && this.#idle.length === 0) this.#idle.push(this.#take())
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(thread => thread.end()))
  }

  async #perform<T extends keyof Tasks>(
    task: T,
    input: Input<T>,
    client?: Client,
  ): Promise<Result<T>> {
    const isUrgent = URGENT.has(task)
    const thread = await new Promise<Thread>(begin => {
      this.#waiting++
      const queue = isUrgent ? this.#urgent : this.#others
      queue.push(begin)
      this.#next()
    })
    // The input is copied for the thread: thousands of features take milliseconds.
    await pace()
    const free = thread.isNew ? START_MS : 0
    const onUsed = (used: number) => client?.onUsed(Math.max(0, used - free))
    try {
      return (await thread.run({ task, input }, onUsed)) as Result<T>
    } finally {
      this.#running--
      if (!isUrgent) this.#othersRunning--
      if (!thread.isEnded) this.#idle.push(thread)
      this.#next()
    }
  }

  /** Takes an idle thread that has not ended by itself, or starts one. */
  #take(): Thread {
    let idle = this.#idle.pop()
    while (idle?.isEnded) idle = this.#idle.pop()
    return idle ?? new Thread(this.#program, this.#limits)
  }

  #next(): void {
    if (this.#running > this.size) return
    const urgent = this.#urgent.shift()
    const begin = urgent ?? (this.#othersRunning < this.size ? this.#others.shift() : undefined)
    if (!begin) return
    this.#waiting--
    this.#running++
    if (!urgent) this.#othersRunning++
    begin(this.#take())
  }
}

/** The sandbox of this process. */
export const sandbox = new Sandbox()

/** Returns how much may be read from a `.crate` of this size. */
export function archiveLimits(
  { limits, policy }: Pick<Settings, 'limits' | 'policy'>,
  size: number,
): ArchiveLimits {
  return {
    unpackedBytes: Math.max(limits.unpacked_bytes, limits.unpacked_ratio * size),
    entries: limits.archive_entries,
    manifestBytes: limits.manifest_bytes,
    readmeBytes: limits.readme_bytes,
    duplicateManifest: policy.duplicate_manifest === 'allow',
  }
}

/** The files of the archives that were inspected last, by checksum: their pages are made soon. */
const inspected = new LRUCache<string, readonly ArchiveFile[]>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: files => files.reduce((sum, { path }) => sum + path.length + 100, 1),
})

/**
 * Runs `inspectCrate` when it is the client's turn; an archive that takes too much time or memory to
 * read is an issue. Refuses when too many archives are waiting.
 */
export async function inspectArchive(
  content: Content,
  parts: InspectParts,
  client?: Client,
): Promise<Inspection> {
  const inspection: Inspection = await sandbox
    .run('inspect', { content, parts }, client)
    .catch(error => ({ release: null, issues: [archiveIssue(error)] }))
  const isWhole = inspection.issues.every(({ severity }) => severity !== 'error')
  if (inspection.release && isWhole) inspected.set(parts.cksum, inspection.release.files)
  return inspection
}

/** Runs `adoptCrate`; refuses an archive that takes too much time or memory to read. */
export async function adoptArchive(content: Content, parts: AdoptParts): Promise<Adoption> {
  return sandbox.run('adopt', { content, parts }).catch(error => {
    throw error instanceof Refusal ? error : new Refusal([archiveIssue(error)])
  })
}

/**
 * Lists the files of a `.crate`, which is opened unless it was inspected just now; null if there is
 * none, or if that takes too much time or memory.
 */
export async function listFiles(
  cksum: string,
  open: () => Promise<LocalFile | null>,
): Promise<readonly ArchiveFile[] | null> {
  const cached = inspected.get(cksum)
  if (cached) return cached
  const file = await open()
  if (file === null) return null
  const unpackedBytes = unpackedLimit(file.size)
  return unlessCostly(sandbox.run('files', { path: file.path, unpackedBytes }))
}

/** Returns why no Cargo can use a `.crate`; null if one can, or if that is too much to find out. */
export function faultOf(crate: PublishedCrate): Promise<string | null> {
  return unlessCostly(sandbox.run('fault', crate))
}

function unlessCostly<T>(work: Promise<T>): Promise<T | null> {
  return work.catch(error => {
    if (error instanceof SandboxError && !systemRefusal(error, 'operator')) return null
    throw error
  })
}

function archiveIssue(error: unknown): Issue {
  if (!(error instanceof SandboxError) || error.reason === 'failure') throw error
  return issue('archive_costly', { because: error.message })
}
