import { buildCrate } from '../../test/support/crate-builder.ts'
import { Subject } from '../cluster/journal.ts'
import { DONE, REFUSED, shown } from '../model/history.ts'
import { requestOf, resultOf, type Wish } from '../model/wish.ts'
import type { Random } from '../random.ts'
import { promise } from '../run.ts'
import { checksum, indexUrl, type Line, parseIndex } from '../truth.ts'
import { BASE, type Daemon } from './daemon.ts'
import type { Template } from './template.ts'
import { USERS } from './template.ts'
import type { Timeline } from './timeline.ts'

const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '2.0.0']
const WISHES = [
  ...(['publish', 'publish', 'publish', 'publish', 'yank', 'yank', 'unyank', 'own'] as const),
  ...(['disown', 'owners', 'versions', 'index', 'index', 'index'] as const),
]
/** How long a client waits for an answer, in milliseconds. */
const PATIENCE_MS = 30_000
/** The share of answers that get lost on their way to the client while something is broken. */
const LOST = 0.02

/** The result of what was not done because something is away, and will not be. */
const NOTHING = 'nothing was changed'

/** An answer that has arrived. */
interface Reply {
  readonly status: number
  readonly bytes: Buffer
}

/** What clients share. */
export interface Field {
  readonly timeline: Timeline
  readonly template: Template
  /** The daemons that serve now. */
  daemons(): readonly Daemon[]
  /** Whether something is broken, or was a moment ago. */
  isBroken(): boolean
}

/** Clients of several daemons, and what they were answered. */
export class Clients {
  readonly subjects: readonly Subject[]
  operations = 0
  refused = 0
  unanswered = 0
  /** Answers that the service is away for a moment. */
  away = 0
  readonly #field: Field
  #moment = 0
  #serial = 0

  constructor(field: Field, crates: number) {
    this.#field = field
    this.subjects = Array.from({ length: crates }, (_, at) => new Subject(`k-${at}`))
  }

  /** Does so many operations, one after the other. */
  async work(id: string, random: Random, count: number, pauseMs: number): Promise<void> {
    const user = random.pick(USERS)
    for (let at = 0; at < count; at++) {
      await this.#field.timeline.sleep(random.next() * pauseMs, `${id} ${at}`)
      const daemons = this.#field.daemons()
      const subject = random.pick(this.subjects)
      const what = random.pick(WISHES)
      const about = random.pick<string>(/own$/.test(what) ? USERS : VERSIONS)
      const isLost = random.chance(LOST)
      if (daemons.length === 0) continue
      const daemon = random.pick(daemons)
      if (what === 'index') await this.read(daemon, subject, id, random)
      else await this.record(daemon, subject, { client: id, user, what, about }, isLost)
    }
  }

  /** Does what is wished, and notes the answer. */
  async record(daemon: Daemon, subject: Subject, wish: Wish, isLost = false): Promise<void> {
    const { what, about } = wish
    const isPublish = what === 'publish'
    const bytes = isPublish ? this.#bytes(subject.name, about, wish.client) : new Uint8Array()
    if (isPublish) subject.ask(about, checksum(bytes))
    const token = this.#field.template.tokens.get(wish.user ?? '') ?? ''
    const begin = ++this.#moment
    const request = requestOf(BASE, token, subject.name, wish, bytes)
    const reply = await this.#ask(daemon, request, isLost)
    const result = this.#result(daemon, wish, reply)
    const isRead = what === 'owners' || what === 'versions'
    if (result !== NOTHING && !(isRead && result === null)) this.#note(subject, wish, begin, result)
    if (isPublish && result === DONE) subject.acknowledge(about, checksum(bytes))
  }

  /** Reads an index file, and one of its `.crate` files; null without an answer. */
  async read(
    daemon: Daemon,
    subject: Subject,
    client: string,
    random: Random,
  ): Promise<Line[] | null> {
    const begin = ++this.#moment
    const index = await this.#ask(daemon, new Request(indexUrl(BASE, subject.name)))
    if (index === null || index.status === 503) return this.#noteAway(index)
    const name = daemon.process.name
    const isThere = index.status === 200
    promise(isThere || index.status === 404, `${name} answers an index with ${index.status}`)
    const lines = isThere ? parseIndex(subject.name, index.bytes.toString()) : []
    subject.promiseKnown(lines)
    const result = isThere ? shown(lines.map(one => [one.vers, one.yanked] as const)) : REFUSED
    this.#note(subject, { client, user: null, what: 'versions', about: 'index' }, begin, result)
    if (lines.length === 0) return lines
    const { vers, cksum } = random.pick(lines)
    const path = `/crates/${subject.name}/${subject.name}-${vers}.crate`
    const crate = await this.#ask(daemon, new Request(`${BASE}${path}`))
    if (crate === null || crate.status === 503) {
      this.#noteAway(crate)
      return lines
    }
    promise(crate.status === 200, `${name} shows ${path}, which is ${crate.status}`)
    promise(checksum(crate.bytes) === cksum, `${name} has other bytes for ${path}`)
    return lines
  }

  #note(subject: Subject, wish: Wish, begin: number, result: string | null): void {
    const end = result === null ? Number.POSITIVE_INFINITY : ++this.#moment
    subject.history.push({ ...wish, begin, end, result })
    this.operations++
    if (result === REFUSED) this.refused++
    if (result === null) this.unanswered++
  }

  #result(daemon: Daemon, wish: Wish, reply: Reply | null): string | null {
    if (reply === null) return null
    const text = reply.bytes.toString()
    if (reply.status === 200) return resultOf(wish, text)
    if (reply.status === 503) {
      this.#noteAway(reply)
      return text.includes('while a change was committed') ? null : NOTHING
    }
    promise(reply.status < 500, `${daemon.process.name} answers with ${reply.status}: ${text}`)
    return REFUSED
  }

  #noteAway(reply: Reply | null): null {
    if (reply === null) return null
    this.away++
    promise(
      this.#field.isBroken(),
      `nothing is broken, and a daemon answers with 503: ${reply.bytes}`,
    )
    return null
  }

  /** Waits for an answer as long as a client does; null without one. */
  async #ask(daemon: Daemon, request: Request, isLost = false): Promise<Reply | null> {
    const { timeline } = this.#field
    const reply = daemon.fetch(request)
    let patience: ReturnType<Timeline['plan']> | null = null
    const timeout = new Promise<null>(resolve => {
      patience = timeline.plan(
        'patience',
        null,
        () => PATIENCE_MS,
        () => resolve(null),
      )
    })
    const answer = await Promise.race([reply, timeout, daemon.process.death])
    if (patience) (patience as ReturnType<Timeline['plan']>).work = null
    return isLost && this.#field.isBroken() ? null : answer
  }

  #bytes(name: string, version: string, client: string): Uint8Array {
    const files = { 'src/lib.rs': `// ${client} ${this.#serial++}\n` }
    return buildCrate({ name, version, files })
  }
}
