import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  isSuccess,
  promiseBytes,
  promiseSuccess,
  putOwner,
  putVersion,
  putYank,
  type Reply,
  readIndex,
} from './api.ts'
import type { Folder, Program } from './program.ts'
import type { Random } from './random.ts'
import { promise } from './run.ts'
import { crateBytes, type Truth } from './truth.ts'

/** Crates of each client: their number stays, their versions become more. */
const CRATES = 8
/** Milliseconds between two questions of a poller. */
const POLL_MS = 5

/** What the clients of a load share. */
export interface Field {
  readonly folder: Folder
  readonly truth: Truth
  readonly token: string
  readonly otherLogin: string
  /** Where `.crate` files for the command line are made. */
  readonly scratch: string
  readonly programs: Set<Program>
  /** Counts operations by name. */
  readonly done: Map<string, number>
}

/** Eight clients and two pollers on a daemon, until `stop`. */
export class Load {
  readonly #field: Field
  readonly #url: string
  readonly #work: Promise<unknown>
  #isOver = false

  constructor(field: Field, url: string, round: number, random: Random) {
    this.#field = field
    this.#url = url
    const clients = Array.from({ length: 7 }, (_, number) =>
      this.#client(round, number, random.fork()),
    )
    const pollers = [this.#poller(random.fork()), this.#poller(random.fork())]
    this.#work = Promise.all([...clients, this.#operator(round, random.fork()), ...pollers])
    // The failure is kept until `stop`.
    this.#work.catch(() => {
      this.#isOver = true
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Lets everybody finish what they have begun; fails with what anybody saw. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  async #client(round: number, number: number, random: Random): Promise<void> {
    const mine: [string, string][] = []
    const { truth, otherLogin } = this.#field
    for (let count = 0; !this.#isOver; count++) {
      const dice = random.next()
      const one = mine.length > 0 ? random.pick(mine) : null
      if (one === null || dice < 0.6) {
        // A new crate, a new version of it, or one of the crate that all publish to.
        const name = dice < 0.15 ? 'c-shared' : `c-${number}-${random.below(CRATES)}`
        const version = `${count + 1}.${round}.${number}`
        if (!(await this.#publish(name, version))) return
        if (name !== 'c-shared') mine.push([name, version])
      } else if (dice < 0.85) {
        const yanked = random.chance(0.6)
        truth.setYanked(...one, null)
        if (!(await this.#did('yank', putYank(this.#url, this.#field.token, one, yanked)))) return
        truth.setYanked(...one, yanked)
      } else {
        const isOwner = truth.owners.get(one[0])?.get(otherLogin) !== true
        const pair = [one[0], otherLogin] as const
        truth.setOwner(...pair, null)
        if (!(await this.#did('owner', putOwner(this.#url, this.#field.token, pair, isOwner))))
          return
        truth.setOwner(...pair, isOwner)
      }
    }
  }

  /** Uses the command line beside the daemon. */
  async #operator(round: number, random: Random): Promise<void> {
    const { folder, scratch, truth } = this.#field
    for (let count = 0; !this.#isOver; count++) {
      const [name, version] = [`c-operator-${round}-${count}`, '1.0.0']
      const place = join(scratch, name)
      mkdirSync(place)
      writeFileSync(join(place, `${name}-${version}.crate`), crateBytes(name, version))
      const what = random.pick(['add', 'import', 'token'] as const)
      const words = {
        add: ['add', place],
        import: ['import', place, '--as', 'crates'],
        token: ['token', 'create', '--user', 'alice', '--name', name],
      }[what]
      if (what !== 'token') truth.askVersion(name, version)
      const program = folder.start(words)
      this.#field.programs.add(program)
      const ending = await program.ended
      this.#field.programs.delete(program)
      if (ending === 'SIGKILL') return
      promise(ending === 0, program.story(`ended with ${ending}`))
      this.#count(what)
      if (what !== 'token') truth.hasVersion(name, version)
      else {
        const tokenOk = await putVersion(this.#url, program.stdout.trim(), name, version)
        if (tokenOk === null) return truth.askVersion(name, version)
        promiseSuccess('a publish with a new token', tokenOk)
        truth.askVersion(name, version)
        truth.hasVersion(name, version)
      }
    }
  }

  async #publish(name: string, version: string): Promise<boolean> {
    const { truth, token } = this.#field
    truth.askVersion(name, version)
    if (!(await this.#did('publish', putVersion(this.#url, token, name, version)))) return false
    truth.hasVersion(name, version)
    return true
  }

  /** Whether an operation was answered; every answer has to be a success. */
  async #did(what: string, request: Promise<Reply | null>): Promise<boolean> {
    const reply = await request
    if (reply === null) return false
    if (!isSuccess(reply)) promiseSuccess(what, reply)
    this.#count(what)
    return true
  }

  /** Reads index files as Cargo does: what it sees is whole, and never goes away. */
  async #poller(random: Random): Promise<void> {
    const { truth } = this.#field
    while (!this.#isOver) {
      const names = truth.names()
      // The newest are where something happens.
      const late = names.slice(-20)
      const name = names.length > 0 ? random.pick(random.chance(0.7) ? late : names) : 'c-shared'
      const expected = truth.expected(name)
      const lines = await readIndex(this.#url, name)
      if (lines === null) return
      truth.compare(name, expected, lines)
      if (lines.length > 0) await promiseBytes(this.#url, random.pick(lines))
      this.#count('poll')
      await sleep(POLL_MS)
    }
  }

  #count(what: string): void {
    this.#field.done.set(what, (this.#field.done.get(what) ?? 0) + 1)
  }
}
