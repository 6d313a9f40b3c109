import type { Random } from '../../support/random.ts'
import type { Host, Timeline } from './timeline.ts'

/** The server that a process talks to. */
export type Peer = 'database' | 'bucket'

/**
 * The fate of a message: `cut`: the connection breaks before it arrives; `lost`: it arrives, and
 * the connection breaks before its answer; `busy`: the peer refuses it for now.
 */
export type Fate = 'good' | 'cut' | 'lost' | 'busy'

/** Probabilities of slowness and faults, from 0 to 1. */
export interface Weather {
  /** Messages that take up to half a second. */
  readonly slow: number
  /** Messages that take up to 12 seconds. */
  readonly late: number
  readonly cut: number
  readonly lost: number
  readonly busy: number
}

/** Nothing is broken, and nothing is slow. */
export const CALM: Weather = { slow: 0, late: 0, cut: 0, lost: 0, busy: 0 }

/** A way between a process and a peer, and until when it is dead in which way. */
interface Way {
  stalledUntil: number
  refusedUntil: number
}

/** The connections between processes and their peers, with their faults. */
export class Network {
  readonly weather: Record<Peer, Weather> = { database: CALM, bucket: CALM }
  readonly fates: Record<Fate, number> = { good: 0, cut: 0, lost: 0, busy: 0 }
  /** When the last message arrives that is on its way. */
  lastArrival = 0
  readonly #timeline: Timeline
  readonly #ways = new Map<string, Way>()

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  /** Holds back messages in both directions for `ms`; they arrive afterwards. */
  stall(process: Host, peer: Peer, ms: number): void {
    this.#way(process, peer).stalledUntil = this.#timeline.now + ms
  }

  /** Breaks connections for `ms`; senders notice. */
  refuse(process: Host, peer: Peer, ms: number): void {
    this.#way(process, peer).refusedUntil = this.#timeline.now + ms
  }

  /** Everything gets through again. */
  heal(): void {
    this.#ways.clear()
    this.weather.database = this.weather.bucket = CALM
  }

  /** Draws how long a message takes, in milliseconds. */
  delay(random: Random, process: Host, peer: Peer): number {
    const { slow, late } = this.weather[peer]
    const wait = Math.max(0, this.#way(process, peer).stalledUntil - this.#timeline.now)
    const [kind, size] = [random.next(), random.next()]
    const usual = kind < late + slow ? size * 500 : 0.1 + size * 1.5
    const delay = wait + (kind < late ? size * 12_000 : usual)
    this.lastArrival = Math.max(this.lastArrival, this.#timeline.now + delay)
    return delay
  }

  /** Draws the fate of a message. */
  fate(random: Random, process: Host, peer: Peer): Fate {
    const { cut, lost, busy } = this.weather[peer]
    const drawn = random.next()
    const isRefused = this.#way(process, peer).refusedUntil > this.#timeline.now
    const fate =
      isRefused || drawn < cut
        ? 'cut'
        : drawn < cut + lost
          ? 'lost'
          : drawn < cut + lost + busy
            ? 'busy'
            : 'good'
    this.fates[fate]++
    return fate
  }

  #way({ name }: Host, peer: Peer): Way {
    const key = `${name} ${peer}`
    const way = this.#ways.get(key) ?? { stalledUntil: 0, refusedUntil: 0 }
    this.#ways.set(key, way)
    return way
  }
}
