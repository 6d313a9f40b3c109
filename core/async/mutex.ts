/** Runs one task at a time. A failing task rejects only its own caller's promise. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  async idle(): Promise<void> {
    await this.#last
  }
}
