import { setTimeout as sleep } from 'node:timers/promises'
import type { TestServer } from '../../support/postgres.ts'
import type { Random } from '../../support/random.ts'
import type { FakeS3 } from '../../support/s3/server.ts'
import { ensure } from '../run.ts'
import type { Passage } from './gate.ts'
import type { Machine } from './machine.ts'
import type { Fault } from './schedule.ts'
import type { Work } from './work.ts'

/** In how many milliseconds the work of a killed daemon is done when nothing else is broken. */
const TAKEOVER_MS = 10_000
/** The share of requests that the S3 server fails. */
const SHARE = 0.6

/** Makes faults happen, and heals them. */
export class Faults {
  readonly #machines: readonly Machine[]
  readonly #server: TestServer
  readonly #s3: FakeS3
  readonly #work: Work
  /** Factor on all time limits. */
  readonly #slack: number
  readonly #random: Random
  readonly #began = performance.now()
  readonly #counts = new Map<string, number>()
  #active = 0

  constructor(
    machines: readonly Machine[],
    common: { readonly server: TestServer; readonly s3: FakeS3; readonly work: Work },
    slack: number,
    random: Random,
  ) {
    this.#machines = machines
    this.#server = common.server
    this.#s3 = common.s3
    this.#work = common.work
    this.#slack = slack
    this.#random = random
  }

  /** The number of faults of each kind. */
  get told(): string {
    return [...this.#counts].map(([kind, count]) => `${count} × ${kind}`).join(', ')
  }

  /** Plays an episode; everything is healed when it resolves. */
  async play(episode: readonly Fault[]): Promise<void> {
    const isAlone = episode.length === 1
    await Promise.all(episode.map(fault => this.#play(fault, isAlone)))
    this.#s3.requests.length = 0
  }

  async #play(fault: Fault, isAlone: boolean): Promise<void> {
    const { kind, machine, at, lasts } = fault
    await sleep(at)
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    const place = machine === null ? '' : `daemon ${machine + 1}: `
    this.#say(`${place}${kind} for ${(lasts / 1000).toFixed(1)} s`)
    this.#active++
    const heal = await this.#begin(fault, isAlone)
    await sleep(lasts)
    this.#active--
    await heal()
    this.#say(`${place}${kind} is over`)
  }

  /** Begins a fault; returns a function that heals it. */
  async #begin({ kind, machine }: Fault, isAlone: boolean): Promise<() => Promise<void> | void> {
    const target = this.#machines[machine ?? 0] as Machine
    const [what = '', how = ''] = kind.split(' ')
    switch (what) {
      case 'kill': {
        await target.kill()
        const takeover = this.#takeover(isAlone)
        return async () => {
          await target.start(() => this.#active > 0)
          await takeover
        }
      }
      case 'stop':
        target.signal('SIGSTOP')
        return () => target.signal('SIGCONT')
      case 'postgres':
        await this.#server.kill()
        return () => this.#server.start()
      case 's3':
        this.#s3.fault = ({ headers }) => {
          if (!this.#random.chance(SHARE)) return null
          if (how === 'lost') return 'lost'
          if (how === '503') return 503
          return headers['if-none-match'] || headers['if-match'] ? 412 : null
        }
        return () => {
          this.#s3.fault = () => null
        }
      default: {
        const gate = what === 'database' ? target.database : target.bucket
        gate.set(how as Passage)
        return () => gate.set('open')
      }
    }
  }

  async #takeover(isAlone: boolean): Promise<void> {
    // When the database is away, too, its work waits for that.
    if (!isAlone) return
    const taken = await this.#work.takeover()
    ensure(
      taken < TAKEOVER_MS * this.#slack,
      `what a killed daemon has left is done after ${taken.toFixed(0)} ms`,
    )
  }

  #say(what: string): void {
    console.log(`  ${((performance.now() - this.#began) / 1000).toFixed(1).padStart(6)} s  ${what}`)
  }
}
