/** Runs work that many want at once only once, by key. */
export class Flights<T> {
  readonly #running = new Map<string, Promise<T>>()

  /** Returns the result of the work that goes on for a key; starts it where none does. */
  join(key: string, start: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key)
    if (running) return running
    const flight = start().finally(() => this.#running.delete(key))
    this.#running.set(key, flight)
    return flight
  }

  /** Waits until no work goes on for a key, however it ends. */
  async landed(key: string): Promise<void> {
    await this.#running.get(key)?.catch(() => undefined)
  }
}
