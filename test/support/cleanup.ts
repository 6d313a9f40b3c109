type Step = () => Promise<void> | void

/**
 * One list for a test, however many ask: the folder that was made first goes last, after who still
 * writes to it.
 */
const known = new WeakMap<object, Step[]>()

/**
 * What a test, or all tests of a file, have opened, closed in reverse order when it ends, also when
 * it fails.
 */
export class Cleanup {
  readonly #steps: Step[]

  constructor(t: { after(step: () => Promise<void>): void }) {
    this.#steps = known.get(t) ?? []
    if (known.has(t)) return
    known.set(t, this.#steps)
    t.after(() => this.#run())
  }

  add(step: Step): void {
    this.#steps.push(step)
  }

  async #run(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.reverse()) {
      try {
        await step()
      } catch (failure) {
        failures.push(failure)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'))
  }
}
