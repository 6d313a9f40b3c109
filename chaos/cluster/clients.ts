import { setTimeout as sleep } from 'node:timers/promises'
import { buildCrate } from '../../test/support/crate-builder.ts'
import { ask, indexLines, isSuccess, type Reply } from '../api.ts'
import { DONE, REFUSED } from '../model/history.ts'
import { requestOf, resultOf, type Wish } from '../model/wish.ts'
import type { Random } from '../random.ts'
import { promise } from '../run.ts'
import { checksum, indexUrl, type Line } from '../truth.ts'
import type { Journal, Subject } from './journal.ts'
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
/** How long a client waits for an answer, and then avoids the daemon, in milliseconds. */
const PATIENCE_MS = 4000
const AVOID_MS = 2000
/** Within how many milliseconds readers see an acknowledged change when nothing is broken. */
const SEEN_MS = 1000

/** The result of what was not done because something is away, and will not be. */
const NOTHING = 'nothing was changed'
type Result = string | null | typeof NOTHING

/** What clients share. */
export interface Field {
  readonly machines: readonly Machine[]
  readonly tokens: ReadonlyMap<string, string>
  readonly journal: Journal
  /** Since when nothing is broken, as `performance.now()` counts; null while something is. */
  calmSince(): number | null
}

/** Clients of several daemons behind a load balancer. */
export class Clients {
  readonly #field: Field
  /** Until when a daemon that did not answer is avoided. */
  readonly #avoided = new Map<Machine, number>()
  readonly #looks = new Set<Promise<void>>()
  #isOver = false
  #serial = 0
  /** Answers that the service is away for a moment; index files older than an acknowledgement. */
  away = 0
  older = 0
  /** Acknowledged changes that were looked for through other daemons, and the longest wait. */
  looked = 0
  longestLook = 0

  constructor(field: Field) {
    this.#field = field
  }

  /** Works until `stop`; fails with what it saw. */
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

  /** Lets everybody finish what was begun. */
  stop(): void {
    this.#isOver = true
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Waits for what looks for acknowledged changes; fails with what was not seen. */
  async looks(): Promise<void> {
    while (this.#looks.size > 0) await Promise.all(this.#looks)
  }

  /** A daemon that answers, as far as is known. */
  machine(random: Random): Machine | null {
    const now = performance.now()
    const up = this.#field.machines.filter(one => one.isUp && (this.#avoided.get(one) ?? 0) < now)
    return up.length > 0 ? random.pick(up) : null
  }

  /** Does what is wished, and notes the answer. */
  async record(
    machine: Machine,
    subject: Subject,
    wish: Wish,
    token = this.#field.tokens.get(wish.user ?? '') ?? '',
  ): Promise<Result> {
    const { journal } = this.#field
    subject.begun++
    subject.running++
    const begin = performance.now()
    const bytes =
      wish.what === 'publish' ? this.#bytes(subject, wish.about, wish.client) : new Uint8Array()
    if (wish.what === 'publish') subject.ask(wish.about, checksum(bytes))
    try {
      const result = await this.#perform(machine, subject.name, wish, token, bytes)
      const end = result === null ? Number.POSITIVE_INFINITY : performance.now()
      const isRead = wish.what === 'owners' || wish.what === 'versions'
      if (result !== NOTHING && !(isRead && result === null))
        journal.record(subject, { ...wish, begin, end, result })
      if (wish.what === 'publish' && result === DONE) {
        subject.acknowledge(wish.about, checksum(bytes))
        this.#lookLater(machine, subject, wish.about)
      }
      return result
    } finally {
      subject.running--
    }
  }

  async #perform(
    machine: Machine,
    name: string,
    wish: Wish,
    token: string,
    bytes: Uint8Array,
  ): Promise<Result> {
    const reply = ask(requestOf(machine.url, token, name, wish, bytes))
    return this.#answer(machine, reply, text => resultOf(wish, text))
  }

  /** Reads an answer; null without one. Only 503 says that the service is away. */
  async #answer(
    machine: Machine,
    request: Promise<Reply | null>,
    read: (text: string) => string,
  ): Promise<Result> {
    const reply = await this.patiently(machine, request)
    if (reply === null) return null
    const text = reply.bytes.toString()
    if (isSuccess(reply)) return read(text)
    if (reply.status !== 503) {
      promise(reply.status < 500, `${machine.name} answers with ${reply.status}: ${text}`)
      return REFUSED
    }
    this.#noteAway(machine, text)
    return text.includes('while a change was committed') ? null : NOTHING
  }

  #noteAway(machine: Machine, text: string): void {
    this.away++
    promise(
      this.#field.calmSince() === null,
      `nothing is broken, and ${machine.name} answers with 503: ${text}`,
    )
  }

  /** Waits for an answer as long as a client does; null without one. */
  async patiently(machine: Machine, request: Promise<Reply | null>): Promise<Reply | null> {
    const ended = new AbortController()
    const timeout = sleep(PATIENCE_MS, null, { signal: ended.signal }).catch(() => null)
    const reply = await Promise.race([request, timeout])
    ended.abort()
    if (reply === null) this.#avoided.set(machine, performance.now() + AVOID_MS)
    return reply
  }

  /** Reads an index file, and one of its `.crate` files. */
  async #read(machine: Machine, subject: Subject, random: Random): Promise<void> {
    const began = performance.now()
    const calm = this.#field.calmSince()
    const lines = await this.index(machine, subject)
    if (lines === null) return
    const isCalm = () => calm !== null && this.#field.calmSince() === calm
    if (isCalm()) {
      const missing = subject.missing(lines, Math.max(began - SEEN_MS, 0))
      promise(
        missing.length === 0,
        `${machine.name} has no ${subject.name} ${missing} for a second`,
      )
    } else if (subject.missing(lines, began).length > 0) this.older++
    if (lines.length === 0) return
    const { vers, cksum } = random.pick(lines)
    const path = `/crates/${subject.name}/${subject.name}-${vers}.crate`
    const reply = await this.patiently(machine, ask(`${machine.url}${path}`))
    if (reply === null) return
    if (reply.status === 503) return this.#noteAway(machine, path)
    promise(reply.status === 200, `${machine.name} shows ${path}, which is ${reply.status}`)
    promise(checksum(reply.bytes) === cksum, `${machine.name} has other bytes for ${path}`)
  }

  /** Reads an index file, which is whole and has nothing that nobody published; null without one. */
  async index(machine: Machine, subject: Subject): Promise<Line[] | null> {
    let isLate = false
    const read = ask(indexUrl(machine.url, subject.name)).then(reply => {
      if (isLate || reply === null) return null
      // A public tree in a bucket is away with it.
      if (reply.status === 503) {
        this.#noteAway(machine, `the index of ${subject.name}`)
        return null
      }
      const lines = indexLines(subject.name, reply)
      subject.promiseKnown(lines)
      return lines
    })
    const timeout = sleep(PATIENCE_MS, null, { ref: false }).then(() => {
      isLate = true
      return null
    })
    return Promise.race([read, timeout])
  }

  /** Looks for an acknowledged version through another daemon, while nothing is broken. */
  #lookLater(machine: Machine, subject: Subject, version: string): void {
    const calm = this.#field.calmSince()
    const others = this.#field.machines.filter(one => one !== machine && one.isUp)
    const other = others[this.#serial % Math.max(1, others.length)]
    if (calm === null || !other) return
    const look = this.#look(other, subject, version, calm)
    this.#looks.add(look)
    look.then(
      () => this.#looks.delete(look),
      // It stays, for `looks` to fail with; the clients need not go on.
      () => this.stop(),
    )
  }

  async #look(machine: Machine, subject: Subject, version: string, calm: number): Promise<void> {
    const acknowledged = performance.now()
    for (;;) {
      const asked = performance.now() - acknowledged
      const lines = await this.index(machine, subject)
      if (this.#field.calmSince() !== calm) return
      if (lines?.some(one => one.vers === version)) {
        this.looked++
        this.longestLook = Math.max(this.longestLook, asked)
        return
      }
      const words = `${subject.name} ${version} ${asked.toFixed(0)} ms after its acknowledgement`
      promise(lines === null || asked < SEEN_MS, `${machine.name} does not show ${words}`)
      await sleep(20)
    }
  }

  #bytes({ name }: Subject, version: string, client: string): Uint8Array {
    const files = { 'src/lib.rs': `// ${client} ${this.#serial++}\n` }
    return buildCrate({ name, version, files })
  }
}
