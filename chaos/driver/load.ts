import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Folder, Program } from '../program.ts'
import type { Random } from '../random.ts'
import { ensure } from '../run.ts'
import { ask, ensureBytes, ensureSuccess, putVersion, readIndex } from './api.ts'
import { author, type Change } from './author.ts'
import { crateBytes, type Truth } from './truth.ts'
import { requestOf } from './wish.ts'

/** Milliseconds between two questions of a poller. */
const POLL_MS = 5

/** The state that the clients of a load share. */
export interface Field {
  readonly folder: Folder
  readonly truth: Truth
  readonly token: string
  readonly otherLogin: string
  /** The folder for `.crate` files that commands read. */
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

  /** Lets every client finish its current operation; throws the first violation that one saw. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  #client(life: number, number: number, random: Random): Promise<void> {
    const person = { prefix: 'c', life, number }
    const { otherLogin } = this.#field
    return author(
      person,
      random,
      otherLogin,
      () => !this.#isOver,
      change => this.#change(change),
    )
  }

  /** Whether a change was answered; every answer must be a success. */
  async #change({ name, ...deed }: Change): Promise<boolean> {
    const { truth, token } = this.#field
    const { what, about } = deed
    const note = {
      publish: (isDone: boolean) =>
        isDone ? truth.hasVersion(name, about) : truth.askVersion(name, about),
      yank: (isDone: boolean) => truth.setYanked(name, about, isDone ? what === 'yank' : null),
      own: (isDone: boolean) => truth.setOwner(name, about, isDone ? what === 'own' : null),
    }[what === 'publish' ? 'publish' : /yank$/.test(what) ? 'yank' : 'own']
    note(false)
    const reply = await ask(requestOf(this.#url, token, name, deed))
    if (reply === null) return false
    ensureSuccess(what, reply)
    this.#count(what)
    note(true)
    return true
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
      ensure(ending === 0, program.story(`ended with ${ending}`))
      this.#count(what)
      if (what !== 'token') truth.hasVersion(name, version)
      else {
        const tokenOk = await putVersion(this.#url, program.stdout.trim(), name, version)
        if (tokenOk === null) return truth.askVersion(name, version)
        ensureSuccess('a publish with a new token', tokenOk)
        truth.askVersion(name, version)
        truth.hasVersion(name, version)
      }
    }
  }

  /** Reads index files as Cargo does: lines are whole, and never go away. */
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
      if (lines.length > 0) await ensureBytes(this.#url, random.pick(lines))
      this.#count('poll')
      await sleep(POLL_MS)
    }
  }

  #count(what: string): void {
    this.#field.done.set(what, (this.#field.done.get(what) ?? 0) + 1)
  }
}
