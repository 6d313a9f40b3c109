/** Runs one task at a time. A failing task rejects only its own caller's promise. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async idle(): Promise<void> {
    await this.#last
  }
}
