/** Random numbers that repeat from a seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 to `end - 1`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of these. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('nothing to pick from')
    return items[this.below(items.length)] as T
  }

  /** Bytes of no meaning. */
  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at++) bytes[at] = this.below(256)
    return bytes
  }

  /** A separate generator: draws from either do not change the other's. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }
}
