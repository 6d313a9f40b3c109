/** Runs one task at a time; an error only reaches the caller of its task. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all tasks so far are done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
