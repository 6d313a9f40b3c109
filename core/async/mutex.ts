/** Runs one task at a time. An error of a task reaches only its own caller. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all tasks added so far are done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
