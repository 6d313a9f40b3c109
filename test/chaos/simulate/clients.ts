import type { Random } from '../../support/random.ts'
import type { Reply } from '../driver/api.ts'
import { Driver } from '../driver/driver.ts'
import { REFUSED, shown } from '../driver/history.ts'
import { TrackedCrate } from '../driver/journal.ts'
import type { Daemon } from './daemon.ts'
import type { Template } from './template.ts'
import { USERS } from './template.ts'
import type { Timeline } from './timeline.ts'

const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '2.0.0']
const WISHES = [
  ...(['publish', 'publish', 'publish', 'publish', 'yank', 'yank', 'unyank', 'own'] as const),
  ...(['disown', 'owners', 'versions', 'index', 'index', 'index'] as const),
]
/** Milliseconds that a client waits for an answer. */
const PATIENCE_MS = 30_000
/** The share of answers that get lost on their way to the client while something is broken. */
const LOST = 0.02

/** The state that clients share. */
export interface Field {
  readonly timeline: Timeline
  readonly template: Template
  /** The daemons that serve now. */
  daemons(): readonly Daemon[]
  /** Whether something is broken, or was a moment ago. */
  isBroken(): boolean
}

/** Clients of several daemons, and their answers. */
export class Clients extends Driver<Daemon> {
  readonly subjects: readonly TrackedCrate[]
  readonly #field: Field
  #moment = 0

  constructor(field: Field, crates: number) {
    super(field.template.tokens)
    this.#field = field
    this.subjects = Array.from({ length: crates }, (_, at) => new TrackedCrate(`k-${at}`))
  }

  /** Performs `count` operations, one after the other. */
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
      else await this.record(daemon, subject, { client: id, user, what, about }, { isLost })
    }
  }

  /** Reads an index file and a `.crate` of it. */
  async read(daemon: Daemon, subject: TrackedCrate, client: string, random: Random): Promise<void> {
    const begin = this.moment()
    const lines = await this.index(daemon, subject)
    if (lines === null) return
    const isThere = lines.length > 0
    const result = isThere ? shown(lines.map(line => [line.vers, line.yanked] as const)) : REFUSED
    const wish = { client, user: null, what: 'versions', about: 'index' } as const
    this.recordResult(subject, wish, begin, result)
    if (isThere) await this.crate(daemon, subject, random.pick(lines))
  }

  protected override moment(): number {
    return ++this.#moment
  }

  protected override isBroken(): boolean {
    return this.#field.isBroken()
  }

  /** Waits for an answer with a client's patience; null without an answer. */
  protected override async ask(
    daemon: Daemon,
    request: Request,
    isLost = false,
  ): Promise<Reply | null> {
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
}
