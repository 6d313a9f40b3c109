import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { ask, type Reply } from '../driver/api.ts'
import { Driver } from '../driver/driver.ts'
import type { Journal, TrackedCrate } from '../driver/journal.ts'
import { ensure } from '../run.ts'
import type { Machine } from './machine.ts'

/** The users that fight for crates. */
export const USERS = ['bob', 'carol', 'dave'] as const
const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '2.0.0', '2.0.1']
const WISHES = [
  ...(['publish', 'publish', 'publish', 'publish', 'yank', 'yank', 'unyank', 'own'] as const),
  ...(['own', 'disown', 'owners', 'versions', 'index', 'index'] as const),
]

/** The longest pause between two operations of a client, in milliseconds. */
const PAUSE_MS = 150
/** Milliseconds that a client waits for an answer, and then avoids the daemon. */
const PATIENCE_MS = 4000
const AVOID_MS = 2000
/** Within how many milliseconds readers see an acknowledged change when nothing is broken. */
const SEEN_MS = 1000

/** The state that clients share. */
export interface Field {
  readonly machines: readonly Machine[]
  readonly tokens: ReadonlyMap<string, string>
  readonly journal: Journal
  /** Since when nothing is broken, as `performance.now()` counts; null while something is. */
  calmSince(): number | null
}

/** Clients of several daemons behind a load balancer. */
export class Clients extends Driver<Machine> {
  readonly #field: Field
  /** Until when a daemon that did not answer is avoided. */
  readonly #avoided = new Map<Machine, number>()
  readonly #looks = new Set<Promise<void>>()
  #isOver = false
  /** Index files older than an acknowledgement. */
  older = 0
  /** Acknowledged changes that were looked for through other daemons, and the longest wait. */
  looked = 0
  longestLook = 0

  constructor(field: Field) {
    super(field.tokens)
    this.#field = field
  }

  /** Works until `stop`; throws the violation that it saw. */
  async work(id: string, random: Random): Promise<void> {
    const user = random.pick(USERS)
    while (!this.#isOver) {
      await sleep(random.below(PAUSE_MS))
      const machine = this.machine(random)
      if (!machine) continue
      const subject = this.#field.journal.pick(random)
      const what = random.pick(WISHES)
      if (what === 'index') await this.#read(machine, subject, random)
      else {
        const about = random.pick<string>(/own$/.test(what) ? USERS : VERSIONS)
        await this.record(machine, subject, {
          client: `${id} at ${machine.name}`,
          user,
          what,
          about,
        })
      }
    }
  }

  /** Lets every client finish its current operation. */
  stop(): void {
    this.#isOver = true
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Waits for the readers that look for acknowledged changes; throws if they missed one. */
  async looks(): Promise<void> {
    while (this.#looks.size > 0) await Promise.all(this.#looks)
  }

  /** A daemon that answers, as far as we know. */
  machine(random: Random): Machine | null {
    const now = performance.now()
    const up = this.#field.machines.filter(
      machine => machine.isUp && (this.#avoided.get(machine) ?? 0) < now,
    )
    return up.length > 0 ? random.pick(up) : null
  }

  protected override isBroken(): boolean {
    return this.#field.calmSince() === null
  }

  protected override ask(machine: Machine, request: Request): Promise<Reply | null> {
    return this.patiently(machine, ask(request))
  }

  /** Waits for an answer with a client's patience; null without an answer. */
  async patiently(machine: Machine, request: Promise<Reply | null>): Promise<Reply | null> {
    const ended = new AbortController()
    const timeout = sleep(PATIENCE_MS, null, { signal: ended.signal }).catch(() => null)
    const reply = await Promise.race([request, timeout])
    ended.abort()
    if (reply === null) this.#avoided.set(machine, performance.now() + AVOID_MS)
    return reply
  }

  /** Reads an index file and a `.crate` of it. */
  async #read(machine: Machine, subject: TrackedCrate, random: Random): Promise<void> {
    const began = performance.now()
    const calm = this.#field.calmSince()
    const lines = await this.index(machine, subject)
    if (lines === null) return
    const isCalm = () => calm !== null && this.#field.calmSince() === calm
    if (isCalm()) {
      const missing = subject.missing(lines, Math.max(began - SEEN_MS, 0))
      ensure(missing.length === 0, `${machine.name} has no ${subject.name} ${missing} for a second`)
    } else if (subject.missing(lines, began).length > 0) this.older++
    if (lines.length > 0) await this.crate(machine, subject, random.pick(lines))
  }

  /** Looks for an acknowledged version through another daemon, while nothing is broken. */
  protected override acknowledged(machine: Machine, subject: TrackedCrate, version: string): void {
    const calm = this.#field.calmSince()
    const others = this.#field.machines.filter(other => other !== machine && other.isUp)
    const other = others[subject.begun % Math.max(1, others.length)]
    if (calm === null || !other) return
    const look = this.#look(other, subject, version, calm)
    this.#looks.add(look)
    look.then(
      () => this.#looks.delete(look),
      // It stays, for `looks` to fail with; the clients need not go on.
      () => this.stop(),
    )
  }

  async #look(
    machine: Machine,
    subject: TrackedCrate,
    version: string,
    calm: number,
  ): Promise<void> {
    const acknowledged = performance.now()
    for (;;) {
      const asked = performance.now() - acknowledged
      const lines = await this.index(machine, subject)
      if (this.#field.calmSince() !== calm) return
      if (lines?.some(line => line.vers === version)) {
        this.looked++
        this.longestLook = Math.max(this.longestLook, asked)
        return
      }
      const words = `${subject.name} ${version} ${asked.toFixed(0)} ms after its acknowledgement`
      ensure(lines === null || asked < SEEN_MS, `${machine.name} does not show ${words}`)
      await sleep(20)
    }
  }
}
