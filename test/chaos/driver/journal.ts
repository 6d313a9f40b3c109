import type { Random } from '../../support/random.ts'
import { ensure } from '../run.ts'
import type { Operation } from './history.ts'
import type { Line } from './lines.ts'

/** Crates that clients fight for at the same time. */
const OPEN = 4
/** A crate is retired after this many operations, or unanswered ones: the search is long. */
const MOST_OPERATIONS = 30
const MOST_UNANSWERED = 5

/** A crate, all operations on it, and the acknowledged ones. */
export class TrackedCrate {
  readonly name: string
  readonly history: Operation[] = []
  begun = 0
  unanswered = 0
  /** Operations that have begun and not ended. */
  running = 0
  /** Checksums that were asked for, by version. */
  readonly #asked = new Map<string, Set<string>>()
  /** Checksums that were acknowledged, and when, by version. */
  readonly acknowledged = new Map<string, { readonly cksum: string; readonly at: number }>()

  constructor(name: string) {
    this.name = name
  }

  get isWornOut(): boolean {
    return this.begun >= MOST_OPERATIONS || this.unanswered >= MOST_UNANSWERED
  }

  ask(version: string, cksum: string): void {
    const asked = this.#asked.get(version) ?? new Set()
    this.#asked.set(version, asked.add(cksum))
  }

  acknowledge(version: string, cksum: string): void {
    ensure(!this.acknowledged.has(version), `${this.name} ${version} was acknowledged twice`)
    this.acknowledged.set(version, { cksum, at: performance.now() })
  }

  /** Fails if a line is of something that nobody published, or other bytes than acknowledged. */
  ensureKnown(lines: readonly Line[]): void {
    const versions = new Set(lines.map(line => line.vers))
    ensure(versions.size === lines.length, `the index of ${this.name} has a version twice`)
    for (const { name, vers, cksum } of lines) {
      ensure(name === this.name, `the index of ${this.name} speaks of ${name}`)
      const acknowledged = this.acknowledged.get(vers)
      const isRight = acknowledged
        ? acknowledged.cksum === cksum
        : this.#asked.get(vers)?.has(cksum)
      ensure(isRight, `the index has ${name} ${vers} with ${cksum}, which nobody published`)
    }
  }

  /** The versions acknowledged before a moment that the lines do not have. */
  missing(lines: readonly Line[], before: number): string[] {
    const versions = new Set(lines.map(line => line.vers))
    return [...this.acknowledged]
      .filter(([version, { at }]) => at < before && !versions.has(version))
      .map(([version]) => version)
  }
}

/** The crates of the clients. */
export class Journal {
  readonly subjects: TrackedCrate[] = []
  #open: TrackedCrate[] = []
  #retired: TrackedCrate[] = []

  /** A crate to do something with. */
  pick(random: Random): TrackedCrate {
    const worn = this.#open.filter(subject => subject.isWornOut)
    this.#retired.push(...worn)
    this.#open = this.#open.filter(subject => !subject.isWornOut)
    while (this.#open.length < OPEN) this.#open.push(this.add(`k-${this.subjects.length}`))
    return random.pick(this.#open)
  }

  /** A crate that only its caller knows. */
  add(name: string): TrackedCrate {
    const subject = new TrackedCrate(name)
    this.subjects.push(subject)
    return subject
  }

  /** Takes the crates with which nobody does anything any more; all of them at the end. */
  takeRetired(isEnd = false): TrackedCrate[] {
    if (isEnd) this.#retired.push(...this.#open.splice(0))
    const taken = this.#retired.filter(subject => subject.running === 0)
    this.#retired = this.#retired.filter(subject => subject.running > 0)
    return taken
  }
}
