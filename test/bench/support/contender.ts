import { quantile } from '../../support/measure.ts'
import { type Program, spent } from './program.ts'
import { type Address, mixedBodies, type Publish, publishAll } from './publishing.ts'

const SIZE = 10_000

/** The results of a number of clients: in milliseconds, or publishes per second. */
export interface Outcome {
  readonly times: number[]
  readonly perSecond: number[]
  /** Milliseconds of the programs' processor time for a publish. */
  readonly untilAnswer: number[]
  readonly untilQuiet: number[]
}

/** A registry under load, through one program or several, and its results. */
export class Contender {
  readonly programs: readonly Program[]
  readonly #at: Omit<Address, 'port'>
  readonly #bodies: (from: number, count: number) => Uint8Array[]
  readonly #outcomes = new Map<number, Outcome>()
  #published = 0

  /** `bodies`: the publishes from a number on. */
  constructor(
    programs: readonly Program[],
    at: Omit<Address, 'port'>,
    bodies = (from: number, count: number) => mixedBodies(from, count, SIZE),
  ) {
    this.programs = programs
    this.#at = at
    this.#bodies = bodies
  }

  /** Each program takes an equal share of the clients and their crates. */
  async publish(clients: number, count: number): Promise<Publish[]> {
    const programs = this.programs.slice(0, clients)
    const share = count / programs.length
    const bodies = programs.map(() => {
      const made = this.#bodies(this.#published, share)
      this.#published += share
      return made
    })
    const done = programs.map(({ port }, at) => {
      const most = Math.ceil((clients - at) / programs.length)
      return publishAll({ ...this.#at, port }, bodies[at] ?? [], most)
    })
    return (await Promise.all(done)).flat()
  }

  /** Resolves when the work behind the answers has ended. */
  async quiet(): Promise<void> {
    for (const program of this.programs) await program.quiet()
  }

  /** Publishes until V8 has compiled the hot code. */
  async warm(clients: number, count: number): Promise<void> {
    await this.publish(clients, count)
    await this.quiet()
  }

  /** Measures one round, until all is quiet. */
  async measure(clients: number, count: number): Promise<void> {
    const [before, begin] = [this.#usage(), performance.now()]
    const done = await this.publish(clients, count)
    const [seconds, answered] = [(performance.now() - begin) / 1000, this.#usage()]
    await this.quiet()
    const none = { times: [], perSecond: [], untilAnswer: [], untilQuiet: [] }
    const sums: Outcome = this.#outcomes.get(clients) ?? none
    this.#outcomes.set(clients, sums)
    sums.times.push(...done.map(({ took }) => took))
    sums.perSecond.push(count / seconds)
    sums.untilAnswer.push(spent(before, answered) / count)
    sums.untilQuiet.push(spent(before, this.#usage()) / count)
  }

  /** Returns the value below which `part` of the results of a number of clients lie. */
  value(clients: number, key: keyof Outcome, part = 0.5): number {
    return quantile(this.#outcomes.get(clients)?.[key] ?? [], part)
  }

  #usage(): ReturnType<Program['usage']> {
    const all = this.programs.map(program => program.usage())
    const sum = (key: 'own' | 'ended') => all.reduce((total, usage) => total + usage[key], 0)
    return { own: sum('own'), ended: sum('ended') }
  }
}
