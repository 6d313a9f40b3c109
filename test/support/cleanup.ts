import type { TestContext } from 'node:test'

/** What a test has opened, closed in reverse order when it ends, also when it fails. */
export class Cleanup {
  readonly #steps: (() => Promise<void> | void)[] = []

  constructor(t: TestContext) {
    t.after(() => this.#run())
  }

  add(step: () => Promise<void> | void): void {
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
