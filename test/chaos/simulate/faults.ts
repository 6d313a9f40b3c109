import type { Random } from '../../support/random.ts'
import type { Fault } from '../cluster/schedule.ts'
import type { Machine } from './machine.ts'
import type { Network, Peer, Weather } from './network.ts'
import { linksOf } from './postgres/connection.ts'
import type { Timeline } from './timeline.ts'

/** The share of requests that the object storage fails. */
const SHARE = 0.6
/** The share of killed daemons that do not come back. */
const GONE = 0.4
/** Milliseconds for which the server may keep a dead connection open. */
const FORGOTTEN_MS = 20_000

/** The targets of faults. */
interface Scene {
  readonly timeline: Timeline
  readonly network: Network
  readonly machines: readonly Machine[]
  /** Whether something is broken now. */
  isBroken(): boolean
}

/** Makes the faults of a schedule happen in virtual time. */
export class Faults {
  /** The number of faults of each kind. */
  readonly counts = new Map<string, number>()
  readonly #scene: Scene
  readonly #random: Random

  constructor(scene: Scene, random: Random) {
    this.#scene = scene
    this.#random = random
  }

  /** Plays an episode; everything is healed when it resolves, but for daemons that stay dead. */
  async play(episode: readonly Fault[]): Promise<void> {
    await Promise.all(episode.map(fault => this.#play(fault)))
  }

  async #play({ kind, machine, at, lasts }: Fault): Promise<void> {
    const { timeline } = this.#scene
    await timeline.sleep(at, `fault ${kind}`)
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    const heal = this.#begin(kind, machine ?? 0, lasts)
    await timeline.sleep(lasts, `end of ${kind}`)
    await heal()
  }

  #begin(kind: Fault['kind'], at: number, lasts: number): () => Promise<void> | void {
    const { network, machines } = this.#scene
    const [what = '', how = ''] = kind.split(' ')
    const machine = machines[at] as Machine
    if (what === 'kill') return this.#kill(machine)
    if (what === 'stop') return this.#stop(machine, lasts)
    if (what === 's3') {
      const before = network.weather.bucket
      const worse: Partial<Weather> = how === 'lost' ? { lost: SHARE } : { busy: SHARE }
      network.weather.bucket = { ...before, ...worse }
      return () => {
        network.weather.bucket = before
      }
    }
    const affected = what === 'postgres' ? machines : [machine]
    const peer: Peer = what === 'bucket' ? 'bucket' : 'database'
    for (const { process } of affected) {
      if (!process) continue
      if (how === 'stalled') network.stall(process, peer, lasts)
      else network.refuse(process, peer, lasts)
      if (peer === 'bucket' || how === 'stalled') continue
      for (const link of linksOf(process))
        if (how === 'gone') link.vanish(this.#random.below(FORGOTTEN_MS))
        else link.reset()
    }
    return () => undefined
  }

  #kill(machine: Machine): () => Promise<void> {
    const { machines, isBroken } = this.#scene
    const staysDead =
      this.#random.chance(GONE) && machines.some(other => other !== machine && other.process)
    machine.kill()
    return async () => {
      if (!staysDead && !machine.process) await machine.start(isBroken)
    }
  }

  #stop({ process }: Machine, lasts: number): () => void {
    if (process) process.stoppedUntil = this.#scene.timeline.now + lasts
    return () => undefined
  }
}
