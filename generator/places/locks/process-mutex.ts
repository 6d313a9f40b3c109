/** The mutexes of a registry: for index files, pages, the git index. */
export type MutexName = 'build' | 'pages' | 'git'

/** The work of one process at a time: writing the git index, importing access logs, sending events. */
export type LeaseName = 'git' | 'downloads' | 'webhooks'

/** Something that is rendered: a mark of this kind and subject has it rendered again. */
export interface RenderedSubject {
  readonly kind: string
  readonly subject: number
}

/** Runs the work of all processes, one at a time; callers of one process in their order. */
export interface ProcessMutex {
  /** Runs `work` when no other caller's work is running; waits without a limit. Not reentrant. */
  run<T>(work: () => Promise<T>): Promise<T>
  /**
   * The work says what it is about to render. If this process loses the mutex before the work ends,
   * another one may have rendered the same, and newer: then it is marked again.
   */
  renders(subjects: readonly RenderedSubject[]): void
  /** Returns whether the running work still has the mutex; before what cannot be done again. */
  isHeld(): Promise<boolean>
  /** Waits for queued work to finish. */
  close(): Promise<void>
}

/** For files that nobody else uses. */
export const ALONE: ProcessMutex = {
  run: work => work(),
  renders: () => undefined,
  isHeld: async () => true,
  close: async () => undefined,
}

/** A right that one process has as long as it lives. */
export interface Lease {
  /** Returns whether this process has it; takes it if nobody does. */
  isMine(): Promise<boolean>
  /** Gives it to the next process that asks. */
  close(): Promise<void>
}

/** Gives the mutexes and leases of a registry; may call something first in each turn of a mutex. */
export interface Locks {
  /** Returns a mutex; the caller closes it. */
  mutex(name: MutexName): ProcessMutex
  /** Returns a lease; the caller closes it. */
  lease(name: LeaseName): Lease
  /** Closes what the mutexes share; to be called when all are closed. */
  close(): Promise<void>
}
