import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { ask, type Reply } from '../driver/api.ts'
import { Driver, type Place } from '../driver/driver.ts'
import { DONE, REFUSED } from '../driver/history.ts'
import { Journal, type TrackedCrate } from '../driver/journal.ts'
import { checksum, crateBytes } from '../driver/lines.ts'
import type { Wish } from '../driver/wish.ts'
import type { Folder, Program } from '../program.ts'
import { ensure } from '../run.ts'

/** The users that fight for crates. */
export const USERS = ['bob', 'carol', 'dave'] as const
const CLIENTS = 6
const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '2.0.0', '2.0.1']
const WISHES = [
  ...(['publish', 'publish', 'publish', 'publish', 'yank', 'yank', 'unyank', 'own'] as const),
  ...(['own', 'disown', 'owners', 'versions'] as const),
]
/** Milliseconds between two questions of a poller. */
const POLL_MS = 5

/** A registry, and the programs that run on it. */
export interface Field {
  readonly folder: Folder
  readonly tokens: ReadonlyMap<string, string>
  /** The folder for `.crate` files that commands read. */
  readonly scratch: string
  readonly programs: Set<Program>
}

/** Six clients, two pollers and an operator of a daemon that may die at any moment. */
export class Clients extends Driver<Place> {
  readonly journal = new Journal()
  /** Crates that commands have added. */
  readonly added: TrackedCrate[] = []
  /** Changes that were acknowledged, and looks of the pollers. */
  changes = 0
  looks = 0
  readonly #field: Field
  #work: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(field: Field) {
    super(field.tokens)
    this.#field = field
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Begins to work, until `stop` or the first violation. */
  start(place: Place, random: Random): void {
    this.#isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, at) =>
      this.#client(place, `c${at}`, USERS[at % USERS.length] ?? '', random.fork()),
    )
    const pollers = [this.#poller(place, random.fork()), this.#poller(place, random.fork())]
    this.#work = Promise.all([...clients, ...pollers, this.#operator(place, random.fork())])
    // The failure is kept until `stop`.
    this.#work.catch(() => {
      this.#isOver = true
    })
  }

  /** Lets everybody finish the current operation; throws the first violation that one saw. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  protected override ask(_: Place, request: Request): Promise<Reply | null> {
    return ask(request)
  }

  protected override recordResult(
    subject: TrackedCrate,
    wish: Wish,
    begin: number,
    result: string | null,
  ): void {
    super.recordResult(subject, wish, begin, result)
    if (result === DONE) this.changes++
  }

  async #client(place: Place, client: string, user: string, random: Random): Promise<void> {
    while (!this.#isOver) {
      const what = random.pick(WISHES)
      const about = random.pick<string>(/own$/.test(what) ? USERS : VERSIONS)
      const subject = this.journal.pick(random)
      // Without an answer the daemon is dead.
      if ((await this.record(place, subject, { client, user, what, about })) === null) return
    }
  }

  /** Reads index files as Cargo does: lines are whole, and what was acknowledged is there. */
  async #poller(place: Place, random: Random): Promise<void> {
    for (; !this.#isOver; await sleep(POLL_MS)) {
      const subject = this.journal.pick(random)
      const began = performance.now()
      const lines = await this.index(place, subject)
      if (lines === null) return
      const missing = subject.missing(lines, began)
      ensure(missing.length === 0, `${subject.name} ${missing} was acknowledged, and is not shown`)
      if (lines.length > 0) await this.crate(place, subject, random.pick(lines))
      this.looks++
    }
  }

  /** Uses the command line beside the daemon. */
  async #operator(place: Place, random: Random): Promise<void> {
    while (!this.#isOver) {
      const what = random.pick(['add', 'import', 'token', 'yank', 'unyank'] as const)
      const isThere =
        what === 'token'
          ? await this.#makesToken(place)
          : what === 'add' || what === 'import'
            ? await this.#adds(what)
            : await this.#yanks(what, this.journal.pick(random), random.pick(VERSIONS))
      if (!isThere) return
    }
  }

  /** Makes a token, and publishes with it. */
  async #makesToken(place: Place): Promise<boolean> {
    const subject = this.journal.add(`t-${this.journal.subjects.length}`)
    const words = ['token', 'create', '--user', 'alice', '--name', subject.name]
    const { ending, stdout } = await this.#command(words)
    if (ending === 'SIGKILL') return false
    const wish = { client: 'operator', user: 'alice', what: 'publish', about: '1.0.0' } as const
    const result = await this.record(place, subject, wish, { token: stdout.trim() })
    ensure(result === DONE || result === null, `a new token: ${result}`)
    return result !== null
  }

  /** Adds a crate from a file, which then belongs to nobody. */
  async #adds(what: 'add' | 'import'): Promise<boolean> {
    const subject = this.journal.add(`o-${this.journal.subjects.length}`)
    const [{ name }, version] = [subject, '1.0.0']
    const [bytes, folder] = [crateBytes(name, version), join(this.#field.scratch, name)]
    mkdirSync(folder)
    writeFileSync(join(folder, `${name}-${version}.crate`), bytes)
    subject.ask(version, checksum(bytes))
    this.added.push(subject)
    const words = what === 'add' ? ['add', folder] : ['import', folder, '--as', 'crates']
    if ((await this.#command(words)).ending === 'SIGKILL') return false
    subject.acknowledge(version, checksum(bytes))
    this.changes++
    return true
  }

  async #yanks(what: 'yank' | 'unyank', subject: TrackedCrate, about: string): Promise<boolean> {
    const begin = this.moment()
    const undo = what === 'unyank' ? ['--undo'] : []
    const { ending } = await this.#command(['yank', `${subject.name}@${about}`, ...undo], [1])
    const result = ending === 0 ? DONE : ending === 1 ? REFUSED : null
    this.recordResult(subject, { client: 'operator', user: null, what, about }, begin, result)
    return result !== null
  }

  /** Runs a command, which ends well, in one of these other ways, or with the daemon. */
  async #command(words: readonly string[], others: readonly number[] = []) {
    const program = this.#field.folder.start(words)
    this.#field.programs.add(program)
    const ending = await program.ended
    this.#field.programs.delete(program)
    const isGood = [0, 'SIGKILL', ...others].includes(ending ?? '')
    ensure(isGood, program.story(`ended with ${ending}`))
    return { ending, stdout: program.stdout }
  }
}
