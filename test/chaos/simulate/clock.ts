/**
 * Replaces the clocks of this program, below all their users: in simulated processes, timers, dates
 * and random pauses belong to the virtual world. Everything else has the real ones.
 */
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { currentProcess, type VirtualProcess } from './process.ts'
import { type Event, immediates } from './timeline.ts'

/** When virtual time begins. */
const BEGIN = Date.parse('2026-11-20T12:00:00Z')
/** Two timers never end at the same moment. */
const JITTER_MS = 0.5

/** A timer of a simulated process. */
class VirtualTimer {
  readonly #process: VirtualProcess
  readonly #ms: number
  readonly #repeats: boolean
  readonly #work: () => void
  #event: Event | null = null

  constructor(process: VirtualProcess, ms: unknown, repeats: boolean, work: () => void) {
    this.#process = process
    this.#ms = Math.max(1, Number(ms) || 0)
    this.#repeats = repeats
    this.#work = work
    this.refresh()
  }

  refresh(): this {
    this.stop()
    const key = `timer ${this.#ms.toFixed(0)}`
    const when = () => this.#ms + this.#process.random.next() * JITTER_MS
    this.#event = this.#process.world.timeline.plan(key, this.#process, when, () => {
      if (this.#repeats) this.refresh()
      this.#work()
    })
    return this
  }

  stop(): void {
    if (this.#event) this.#event.work = null
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

type Work = (...args: unknown[]) => void

/** Replaces the clocks; returns a function that restores the real ones. */
export function replaceClocks(): () => void {
  const undo: (() => void)[] = []
  const replace = (holder: object, name: string, by: (real: Work) => unknown) => {
    const before = Object.getOwnPropertyDescriptor(holder, name)
    const real = (holder as Record<string, Work>)[name] as Work
    const value = by(real)
    Object.defineProperty(holder, name, { value, configurable: true, writable: true })
    undo.push(() => {
      if (before) Object.defineProperty(holder, name, before)
      else delete (holder as Record<string, unknown>)[name]
    })
  }
  for (const holder of [globalThis, timers]) replaceTimers(holder, replace)
  replacePromises(replace)
  replace(performance, 'now', real => () => {
    const process = currentProcess()
    return process ? process.world.timeline.now : real.call(performance)
  })
  replace(Math, 'random', real => () => currentProcess()?.random.next() ?? real.call(Math))
  const Real = Date
  globalThis.Date = virtualDate(Real)
  undo.push(() => {
    globalThis.Date = Real
  })
  syncBuiltinESMExports()
  return () => {
    for (const step of undo.reverse()) step()
    syncBuiltinESMExports()
  }
}

type Replace = (holder: object, name: string, by: (real: Work) => unknown) => void

function replaceTimers(holder: object, replace: Replace): void {
  for (const [name, repeats] of [
    ['setTimeout', false],
    ['setInterval', true],
  ] as const)
    replace(holder, name, real => (work: Work, ms: unknown, ...args: unknown[]) => {
      const process = currentProcess()
      if (!process) return real(work as never, ms, ...args)
      return new VirtualTimer(process, ms, repeats, () => work(...args))
    })
  for (const name of ['clearTimeout', 'clearInterval'])
    replace(holder, name, real => (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.stop()
      else real(timer)
    })
  replace(holder, 'setImmediate', real => (work: Work, ...args: unknown[]) => {
    if (!currentProcess()) return real(work as never, ...args)
    immediates.pending++
    const counted = () => {
      immediates.pending--
      work(...args)
    }
    return real(counted as never)
  })
}

function replacePromises(replace: Replace): void {
  replace(
    timersPromises,
    'setTimeout',
    real => (ms: unknown, value: unknown, options?: { signal?: AbortSignal }) => {
      const process = currentProcess()
      if (!process) return real(ms, value, options)
      const { signal } = options ?? {}
      return new Promise((resolve, reject) => {
        const abort = () => {
          timer.stop()
          reject(signal?.reason)
        }
        const timer = new VirtualTimer(process, ms, false, () => {
          signal?.removeEventListener('abort', abort)
          resolve(value)
        })
        if (signal?.aborted) abort()
        else signal?.addEventListener('abort', abort, { once: true })
      })
    },
  )
  replace(timersPromises, 'setImmediate', real => async (value: unknown) => {
    if (!currentProcess()) return real(value)
    immediates.pending++
    try {
      return await (real(value) as unknown)
    } finally {
      immediates.pending--
    }
  })
}

function virtualDate(Real: DateConstructor): DateConstructor {
  const now = () => {
    const process = currentProcess()
    return process ? BEGIN + Math.floor(process.world.timeline.now) : Real.now()
  }
  return class extends Real {
    constructor(...args: []) {
      super(...((args.length === 0 ? [now()] : args) as []))
    }
    static override now(): number {
      return now()
    }
  } as DateConstructor
}
