import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '../../support/random.ts'
import type { Network } from './network.ts'
import type { Timeline } from './timeline.ts'

/** The surroundings of a simulated process. */
export interface World {
  readonly timeline: Timeline
  readonly network: Network
}

/**
 * A process of a simulated machine. The context in which its timers, statements and requests begin
 * tells them apart from other processes'. A dead process does nothing any more.
 */
export class VirtualProcess {
  readonly name: string
  readonly world: World
  /** Decides the process's own random choices, such as its pauses. */
  readonly random: Random
  /** Resolves with null when it is killed. */
  readonly death: Promise<null>
  #die: () => void = () => undefined
  isDead = false
  /** Until when it is stopped (SIGSTOP), in virtual milliseconds. */
  stoppedUntil = 0

  constructor(name: string, world: World, random: Random) {
    this.name = name
    this.world = world
    this.random = random
    this.death = new Promise(resolve => {
      this.#die = () => resolve(null)
    })
  }

  /** Stops everything in it; its sent messages arrive. */
  kill(): void {
    this.isDead = true
    this.#die()
  }

  /** Does work as this process. */
  run<T>(work: () => T): T {
    return current.run(this, work)
  }
}

const current = new AsyncLocalStorage<VirtualProcess>()

/** The process that runs now; undefined in the simulation itself. */
export function currentProcess(): VirtualProcess | undefined {
  return current.getStore()
}
