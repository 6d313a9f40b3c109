import { join } from 'node:path'
import { replaceWorld } from './hooks.ts'
import { type Plant, Simulation } from './simulation.ts'
import { Template } from './template.ts'

/** The outcome of a seed. */
export interface Outcome {
  readonly simulation: Simulation
  /** The violation; null if all invariants hold. */
  readonly error: unknown
}

/** Runs simulations, one after the other. */
export class Simulations {
  readonly #folder: string
  readonly #template: Template
  readonly #restore: () => void
  #current: Simulation | null = null

  private constructor(folder: string, template: Template) {
    this.#folder = folder
    this.#template = template
    this.#restore = replaceWorld(() => {
      if (!this.#current) throw new Error('no simulation runs')
      return this.#current
    })
  }

  /** `folder`: where their files are. */
  static async open(folder: string): Promise<Simulations> {
    return new Simulations(folder, await Template.make(join(folder, 'template')))
  }

  /** Runs a seed, perhaps with a planted fault. */
  async play(seed: number, plant: Plant | null = null): Promise<Outcome> {
    const simulation = new Simulation(seed, this.#template, join(this.#folder, 'seed'), plant)
    this.#current = simulation
    try {
      await simulation.run()
      return { simulation, error: null }
    } catch (error) {
      return { simulation, error }
    } finally {
      simulation.close()
    }
  }

  close(): Promise<void> {
    this.#restore()
    return this.#template.close()
  }
}
