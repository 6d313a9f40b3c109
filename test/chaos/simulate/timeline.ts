import { createHash } from 'node:crypto'
import { setImmediate as tick } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { ensure } from '../run.ts'

/** After this many idle ticks of the event loop, nothing will come any more. */
const QUIET_TICKS = 3
/** Requests to the system, such as files, but not the program's timers and sockets. */
const OF_THE_SYSTEM = /^(?:FS|CloseReq|FileHandle)/

/** The number of pending `setImmediate` calls of simulated processes. */
export const immediates = { pending: 0 }

/** The process of an event, which may be stopped or dead. */
export interface Host {
  readonly name: string
  readonly isDead: boolean
  /** Until when it is stopped (SIGSTOP), in virtual milliseconds. */
  readonly stoppedUntil: number
  run<T>(work: () => T): T
}

/** Something that happens at a moment of virtual time. */
export interface Event {
  readonly key: string
  readonly process: Host | null
  /** Null once it has happened, or will not happen. */
  work: (() => void) | null
  at: number
  order: number
}

/** An event that has no moment yet. */
interface Plan {
  readonly event: Event
  readonly when: (random: Random) => number
}

/**
 * Virtual time, in milliseconds from 0: events happen one after the other. Everything that follows
 * from an event without waiting for another is done before the next. So the order of events depends
 * on the seed only: moments are drawn in the order of the planned events' keys, not in the order of
 * the system's answers.
 */
export class Timeline {
  now = 0
  /** Events that have happened. */
  steps = 0
  /** Keys with their moments, the latest last; for people. */
  readonly recent: string[] = []
  readonly #random: Random
  /** In the order in which they happen. */
  readonly #queue: Event[] = []
  #planned: Plan[] = []
  #orders = 0
  readonly #hash = createHash('sha256')
  #failure: unknown = null

  constructor(random: Random) {
    this.#random = random
  }

  /**
   * Plans an event of a process, or of none, `when` milliseconds from now; `when` may draw random
   * numbers.
   */
  plan(
    key: string,
    process: Host | null,
    when: (random: Random) => number,
    work: () => void,
  ): Event {
    const event = { key, process, work, at: Number.NaN, order: 0 }
    this.#planned.push({ event, when })
    return event
  }

  /** Resolves after `ms` virtual milliseconds. */
  sleep(ms: number, who: string): Promise<void> {
    return new Promise(resolve => {
      this.plan(`${who} waits`, null, () => ms, resolve)
    })
  }

  /** Lets events happen until work is done; fails when nothing happens any more. */
  async until<T>(work: Promise<T>, what: string, limit = Number.POSITIVE_INFINITY): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    await settled()
    while (!isDone) {
      ensure(this.now < limit, `${what} takes longer than ${limit.toFixed(0)} virtual ms`)
      ensure(await this.step(), `${what} waits for nothing`)
    }
    return work
  }

  /** Makes the next step fail: an error thrown here could be caught by the program. */
  fail(error: unknown): void {
    this.#failure ??= error
  }

  /** Lets one event happen, with all that follows from it; returns false when there is none. */
  async step(): Promise<boolean> {
    if (this.#failure !== null) throw this.#failure
    this.#place()
    const event = this.#next()
    if (!event) return false
    const { process, work } = event
    event.work = null
    this.now = Math.max(this.now, event.at)
    this.steps++
    this.#note(event)
    if (process) process.run(() => work?.())
    else work?.()
    await settled()
    return true
  }

  /** Stands for everything that has happened, in its order. */
  trace(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }

  /** Draws the moments of events planned since the last event. */
  #place(): void {
    const planned = this.#planned
    this.#planned = []
    const keyOf = ({ event: { process, key } }: Plan) => `${process?.name ?? ''} ${key}`
    const sorted = planned.map((plan, at) => ({ key: keyOf(plan), at, plan }))
    sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.at - b.at))
    for (const { plan } of sorted) {
      plan.event.at = this.now + Math.max(0, plan.when(this.#random))
      plan.event.order = ++this.#orders
      this.#push(plan.event)
    }
  }

  /** Takes the next event; events of stopped processes happen later. */
  #next(): Event | null {
    for (;;) {
      const event = this.#queue.shift()
      if (!event) return null
      if (event.work === null || event.process?.isDead) continue
      const until = event.process?.stoppedUntil ?? 0
      if (until <= event.at) return event
      event.at = until
      this.#push(event)
    }
  }

  #note({ key, process, at }: Event): void {
    const line = `${at.toFixed(3)} ${process?.name ?? '-'} ${key}`
    this.#hash.update(`${line}\n`)
    this.recent.push(line)
    if (this.recent.length > 400) this.recent.splice(0, 200)
  }

  #push(event: Event): void {
    const before = this.#queue.findLastIndex(other => isBefore(other, event))
    this.#queue.splice(before + 1, 0, event)
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Resolves when the program has done everything that it can do without an event. */
export async function settled(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TICKS; quiet = isBusy() ? 0 : quiet + 1) await tick()
}

function isBusy(): boolean {
  if (immediates.pending > 0) return true
  return process.getActiveResourcesInfo().some(name => OF_THE_SYSTEM.test(name))
}
