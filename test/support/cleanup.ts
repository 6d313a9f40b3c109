/** What a test, or all tests of a file, have opened, closed in reverse order when it ends, also when it fails. */
export class Cleanup {
  readonly #steps: (() => Promise<void> | void)[] = []

  constructor(t: { after(step: () => Promise<void>): void }) {
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
