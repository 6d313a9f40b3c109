/** Runs one piece of work after the other; a failure only reaches its caller. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all work so far is done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
