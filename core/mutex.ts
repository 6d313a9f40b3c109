/** Gives work its turn, one after the other; a failure is its caller's and stops no one behind it. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when all that was asked for so far is done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
