/** The pauses between attempts, in milliseconds: each is twice the one before, up to the longest. */
export class Backoff {
  readonly #first: number
  readonly #longest: number
  #next: number

  constructor(first: number, longest: number) {
    this.#first = first
    this.#longest = longest
    this.#next = first
  }

  next(): number {
    const pause = this.#next
    this.#next = Math.min(2 * pause, this.#longest)
    return pause
  }

  reset(): void {
    this.#next = this.#first
  }
}
