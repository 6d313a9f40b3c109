import { join } from 'node:path'
import type { Random } from '../../support/random.ts'
import { ensure } from '../run.ts'
import { Daemon, type Parts } from './daemon.ts'
import { linksOf } from './postgres/connection.ts'
import { VirtualProcess, type World } from './process.ts'
import type { Template } from './template.ts'

/** The pause before another attempt to start, in milliseconds. */
const PAUSE_MS = 1000

/** A machine with a registry folder, on which one daemon after the other runs. */
export class Machine {
  readonly name: string
  /** The daemon that serves; null while it is dead or starts. */
  daemon: Daemon | null = null
  process: VirtualProcess | null = null
  readonly #dir: string
  readonly #world: World
  readonly #parts: Parts
  readonly #random: Random
  #starts = 0

  constructor(
    at: number,
    folder: string,
    template: Template,
    world: World,
    parts: Parts,
    random: Random,
  ) {
    this.name = `d${at}`
    this.#dir = join(folder, `machine-${at}`)
    this.#world = world
    this.#parts = parts
    this.#random = random
    template.registry(this.#dir, `0000000${at}`)
  }

  /** Starts until it serves or is killed; only faults may make a start fail. */
  async start(isBroken: () => boolean): Promise<void> {
    for (;;) {
      const process = new VirtualProcess(
        `${this.name}.${++this.#starts}`,
        this.#world,
        this.#random.fork(),
      )
      this.process = process
      try {
        const starting = process.run(() => Daemon.start(process, this.#dir, this.#parts))
        const daemon = await Promise.race([starting, process.death])
        if (daemon) this.daemon = daemon
        return
      } catch (error) {
        ensure(isBroken(), `${process.name} does not start: ${(error as Error).stack}`)
        this.kill()
        await this.#world.timeline.sleep(PAUSE_MS, this.name)
        if (this.process) return
      }
    }
  }

  /** Ends the process as SIGKILL does. */
  kill(): void {
    const { process } = this
    if (!process) return
    this.daemon = null
    this.process = null
    process.kill()
    for (const link of linksOf(process)) link.abandon()
  }
}
