type Step = () => Promise<void> | void

/** A test's only list: the folder made first goes last, after every process that writes to it. */
const stepsOf = new WeakMap<object, Step[]>()

/**
 * Resources of a test, or of all tests of a file, closed in reverse order when it ends, also when
 * it fails.
 */
export class Cleanup {
  readonly #steps: Step[]

  constructor(t: { after(step: () => Promise<void>): void }) {
    this.#steps = stepsOf.get(t) ?? []
    if (stepsOf.has(t)) return
    stepsOf.set(t, this.#steps)
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
