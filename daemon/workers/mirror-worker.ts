import { setTimeout as sleep } from 'node:timers/promises'
import { completeMirror, isMirrored, Refusal, type Registry } from '../../generator/index.ts'

/** The first and the longest pause after a failed attempt, in milliseconds. */
const PAUSES_MS = [1000, 60_000] as const

/** Those while the storage refuses files: a person has to mend that, and an attempt costs much. */
const REFUSED_PAUSES_MS = [60_000, 6 * 3_600_000] as const

/** Waits for some milliseconds, or until `signal` says stop. */
type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>

const wait: Pause = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined)

/**
 * Uploads the whole public tree to the bucket of `storage.public` that does not have it yet; tries
 * again when that fails, after pauses that grow. Changes of the tree do not wait for it.
 */
export class MirrorWorker {
  readonly #end = new AbortController()
  readonly #done: Promise<void>

  constructor(registry: Registry, onFailure: (error: unknown) => void, pause = wait) {
    this.#done = this.#run(registry, onFailure, pause)
  }

  /** Stops after the files that are being uploaded; the next start goes on. */
  close(): Promise<void> {
    this.#end.abort()
    return this.#done
  }

  async #run(registry: Registry, onFailure: (error: unknown) => void, pause: Pause): Promise<void> {
    const { signal } = this.#end
    for (let next = 0; !signal.aborted; ) {
      try {
        if (await isMirrored(registry)) return
        return await completeMirror(registry, undefined, signal)
      } catch (error) {
        if (signal.aborted) return
        onFailure(error)
        const isRefused = error instanceof Refusal && error.has('file_refused')
        const [first, longest] = isRefused ? REFUSED_PAUSES_MS : PAUSES_MS
        next = Math.min(Math.max(2 * next, first), longest)
        await pause(next, signal)
      }
    }
  }
}
