import { setTimeout as sleep } from 'node:timers/promises'
import { completeMirror, isMirrored, type Registry } from '../../generator/index.ts'

/** The first and the longest pause after a failed attempt, in milliseconds. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/**
 * Uploads the whole public tree to the bucket of `storage.public` that does not have it yet; tries
 * again when that fails. Changes of the tree do not wait for it.
 */
export class MirrorWorker {
  readonly #end = new AbortController()
  readonly #done: Promise<void>

  constructor(registry: Registry, onFailure: (error: unknown) => void) {
    this.#done = this.#run(registry, onFailure)
  }

  /** Stops after the files that are being uploaded; the next start goes on. */
  close(): Promise<void> {
    this.#end.abort()
    return this.#done
  }

  async #run(registry: Registry, onFailure: (error: unknown) => void): Promise<void> {
    const { signal } = this.#end
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; ) {
      try {
        if (await isMirrored(registry)) return
        return await completeMirror(registry, undefined, signal)
      } catch (error) {
        if (signal.aborted) return
        onFailure(error)
        await sleep(pause, undefined, { signal }).catch(() => undefined)
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
      }
    }
  }
}
