import { setTimeout as sleep } from 'node:timers/promises'
import { buildCrate } from '../../support/crate-builder.ts'
import { ensure } from '../run.ts'
import { indexLines, isSuccess, type Reply } from './api.ts'
import { DONE, REFUSED, shown, story } from './history.ts'
import type { TrackedCrate } from './journal.ts'
import { checksum, indexUrl, type Line } from './lines.ts'
import { requestOf, resultOf, type Wish } from './wish.ts'

/** The result of an operation that was skipped because something is away. */
const NOTHING = 'nothing was changed'

/** The answer of an operation; null without an answer. */
export type Result = string | null | typeof NOTHING

/** A daemon as clients see it. */
export interface Place {
  readonly name: string
  readonly url: string
}

/** Sends changes and reads of crates to daemons, and checks their answers. */
export abstract class Driver<P extends Place> {
  /** Answers that the service is away for a moment. */
  away = 0
  operations = 0
  refused = 0
  unanswered = 0
  readonly #tokens: ReadonlyMap<string, string>
  #serial = 0

  /** `tokens`: by user. */
  constructor(tokens: ReadonlyMap<string, string>) {
    this.#tokens = tokens
  }

  /** Sends a request; null when no answer comes in time. */
  protected abstract ask(place: P, request: Request, isLost?: boolean): Promise<Reply | null>

  /** Whether something is broken, or was a moment ago. */
  protected isBroken(): boolean {
    return false
  }

  /** A moment, later than all before. */
  protected moment(): number {
    return performance.now()
  }

  /** A version was acknowledged. */
  protected acknowledged(_place: P, _subject: TrackedCrate, _version: string): void {}

  /** Performs a wish, and records the answer. */
  async record(
    place: P,
    subject: TrackedCrate,
    wish: Wish,
    { token = this.#tokenOf(wish), isLost = false } = {},
  ): Promise<Result> {
    const { what, about } = wish
    const isPublish = what === 'publish'
    subject.begun++
    subject.running++
    const bytes = isPublish ? this.#bytes(subject, wish) : new Uint8Array()
    if (isPublish) subject.ask(about, checksum(bytes))
    const begin = this.moment()
    try {
      const request = requestOf(place.url, token, subject.name, wish, bytes)
      const result = this.#result(place, wish, await this.ask(place, request, isLost))
      const isRead = what === 'owners' || what === 'versions'
      if (result !== NOTHING && !(isRead && result === null))
        this.recordResult(subject, wish, begin, result)
      if (isPublish && result === DONE) {
        subject.acknowledge(about, checksum(bytes))
        this.acknowledged(place, subject, about)
      }
      return result
    } finally {
      subject.running--
    }
  }

  /** Owners are told to whoever has a token. */
  #tokenOf({ user, what }: Wish): string {
    const [anybody = ''] = what === 'owners' ? this.#tokens.values() : []
    return this.#tokens.get(user ?? '') ?? anybody
  }

  /** Notes the result of an operation that began at a moment and ends now. */
  protected recordResult(
    subject: TrackedCrate,
    wish: Wish,
    begin: number,
    result: string | null,
  ): void {
    const end = result === null ? Number.POSITIVE_INFINITY : this.moment()
    subject.history.push({ ...wish, begin, end, result })
    this.operations++
    if (result === REFUSED) this.refused++
    if (result !== null) return
    this.unanswered++
    subject.unanswered++
  }

  /** Reads an index file, which is whole and has nothing that nobody published; null without one. */
  async index(place: P, subject: TrackedCrate): Promise<Line[] | null> {
    const { name } = subject
    const reply = await this.ask(place, new Request(indexUrl(place.url, name)))
    // A public tree in a bucket is away with it.
    if (reply === null || this.#isAway(place, reply)) return null
    const lines = indexLines(name, reply)
    subject.ensureKnown(lines)
    return lines
  }

  /**
   * Waits until the index `here` matches the records `there`: a change without an answer may come
   * late. Returns the lines.
   */
  async agreed(subject: TrackedCrate, here: P, there: P, most: number): Promise<readonly Line[]> {
    const last = { client: 'last', user: null, about: '', what: 'versions' } as const
    for (const began = performance.now(); ; await sleep(500)) {
      const versions = await this.record(there, subject, last)
      const lines = (await this.index(here, subject)) ?? []
      const index = shown(lines.map(line => [line.vers, line.yanked] as const))
      if (versions === index || (versions === REFUSED && index === '')) return lines
      const words = `${subject.name} has the versions ${versions}, and its index ${index}`
      ensure(performance.now() - began < most, `${words}\n${story(subject.name, subject.history)}`)
    }
  }

  async crate(place: P, { name }: TrackedCrate, { vers, cksum }: Line): Promise<void> {
    const path = `/crates/${name}/${name}-${vers}.crate`
    const reply = await this.ask(place, new Request(`${place.url}${path}`))
    if (reply === null || this.#isAway(place, reply)) return
    ensure(reply.status === 200, `${place.name} shows ${path}, which is ${reply.status}`)
    ensure(checksum(reply.bytes) === cksum, `${place.name} has other bytes for ${path}`)
  }

  /** The result of an answer. Only 503 says that the service is away. */
  #result(place: P, wish: Wish, reply: Reply | null): Result {
    if (reply === null) return null
    const text = reply.bytes.toString()
    if (this.#isAway(place, reply))
      return text.includes('while a change was committed') ? null : NOTHING
    if (isSuccess(reply)) return resultOf(wish, text)
    ensure(reply.status < 500, `${place.name} answers with ${reply.status}: ${text}`)
    return REFUSED
  }

  #isAway(place: P, { status, bytes }: Reply): boolean {
    if (status !== 503) return false
    this.away++
    ensure(this.isBroken(), `nothing is broken, and ${place.name} answers with 503: ${bytes}`)
    return true
  }

  #bytes({ name }: TrackedCrate, { about: version, client }: Wish): Uint8Array {
    const files = { 'src/lib.rs': `// ${client} ${this.#serial++}\n` }
    return buildCrate({ name, version, files })
  }
}
