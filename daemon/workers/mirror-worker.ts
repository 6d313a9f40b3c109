import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '../../core/async/backoff.ts'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { Refusal } from '../../core/error/error.ts'
import { completeMirror, isMirrored } from '../../generator/deploy/complete-mirror.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Worker } from './worker.ts'

type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>

const wait: Pause = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined)

/**
 * Uploads the whole public tree to the bucket of `storage.public` that does not have it yet; tries
 * again when that fails, after pauses that grow. Changes of the tree do not wait for it.
 */
export class MirrorWorker implements Worker {
  readonly #end = new AbortController()
  readonly #upload: () => Promise<void>
  #done = Promise.resolve()

  constructor(registry: Registry, onFailure: OnFailure, pause = wait) {
    this.#upload = () => this.#run(registry, onFailure, pause)
  }

  async start(): Promise<void> {
    this.#done = this.#upload()
  }

  /** Stops after the files that are being uploaded; the next start goes on. */
  close(): Promise<void> {
    this.#end.abort()
    return this.#done
  }

  async #run(registry: Registry, onFailure: OnFailure, pause: Pause): Promise<void> {
    const { signal } = this.#end
    const whileAway = new Backoff(1000, 60_000)
    // A person has to change what the storage refuses, and each attempt costs much.
    const whileRefused = new Backoff(60_000, 6 * 3_600_000)
    while (!signal.aborted) {
      try {
        if (!(await isMirrored(registry))) await completeMirror(registry, undefined, signal)
        return onFailure.done?.()
      } catch (error) {
        if (signal.aborted) return
        onFailure(error)
        const isRefused = error instanceof Refusal && error.has('file_refused')
        await pause((isRefused ? whileRefused : whileAway).next(), signal)
      }
    }
  }
}
