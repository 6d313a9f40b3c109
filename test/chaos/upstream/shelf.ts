import { randomBytes } from 'node:crypto'
import { sha256 } from '../../../core/sha256.ts'
import type { MadeUpUpstream, UpstreamFault } from '../../support/made-up-upstream.ts'
import type { Random } from '../../support/random.ts'

/** Versions whose `yanked` are the bits of the revision of an index file. */
const BITS = 8
const MARK = /^0\.0\.(\d)$/
const OLD = '2026-01-01T00:00:00Z'

/** A crate of the upstream, whose past changes in every way that it must not. */
export class Shelf {
  readonly name: string
  revision = 0
  isGone = false
  readonly #made: MadeUpUpstream
  readonly #random: Random
  readonly #versions = new Map<string, string>()
  readonly #files: { readonly bytes: Buffer; readonly changed: number }[] = []
  #last = 0

  constructor(made: MadeUpUpstream, name: string, random: Random) {
    this.#made = made
    this.name = name
    this.#random = random
  }

  get path(): string {
    return this.#made.pathOf(this.name)
  }

  /** Publishes a version; with one that is there, other bytes in its place. */
  publish(pubtime: string, vers = `1.0.${this.#last++}`): void {
    const bytes = randomBytes(this.#random.between(1, 3000))
    const cksum = sha256(bytes)
    this.#made.write(`/files/${this.name}/${this.name}-${vers}.crate`, bytes)
    this.#versions.set(vers, this.#line(vers, cksum, false, pubtime))
  }

  /** Changes something at random, and the file. */
  change(pubtime: string): void {
    const { name } = this
    const vers = this.#random.pick([...this.#versions.keys(), '1.0.0'])
    const edit = (change: (line: string) => string) => {
      const line = this.#versions.get(vers)
      if (line) this.#versions.set(vers, change(line))
    }
    const yank = () =>
      edit(line => {
        const isYanked = line.includes('"yanked":true')
        return line.replace(`"yanked":${isYanked}`, `"yanked":${!isYanked}`)
      })
    const publish = () => this.publish(pubtime)
    const ways = [
      ...[publish, publish, publish, yank, yank],
      () => this.publish(pubtime, vers),
      () => edit(line => line.replace('"features":{', '"features":{"e":[]')),
      () => this.#versions.delete(vers),
      () => this.#made.remove(`/files/${name}/${name}-${vers}.crate`),
      () => {
        this.isGone = this.#random.chance(0.5)
      },
    ]
    this.#random.pick(ways)()
    this.write()
  }

  write(): void {
    if (this.isGone) {
      this.#made.remove(this.path)
      return
    }
    this.revision++
    const marks = Array.from({ length: BITS }, (_, bit) =>
      this.#line(`0.0.${bit}`, '0'.repeat(64), Boolean((this.revision >> bit) & 1), OLD),
    )
    const lines = [...marks, ...this.#versions.values()]
    const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
    this.#files.push(this.#made.write(this.path, bytes))
  }

  /** Answers with a file of the past. */
  older(): UpstreamFault {
    const { bytes, changed } = this.#random.pick(this.#files)
    const etag = `"${sha256(bytes).slice(0, 32)}"`
    const headers = { etag, 'last-modified': new Date(changed).toUTCString() }
    return { status: 200, body: bytes, headers }
  }

  #line(vers: string, cksum: string, yanked: boolean, pubtime: string): string {
    const { name } = this
    return JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked, pubtime })
  }
}

/** Returns whether a version is one of those that carry the revision. */
export function isMark(vers: string): boolean {
  return MARK.test(vers)
}

/** Returns the revision of the file from which lines were shown; null if it was gone. */
export function revisionOf(lines: readonly { vers: string; yanked: boolean }[]): number | null {
  const marks = lines.filter(({ vers }) => isMark(vers))
  const sum = marks.reduce((all, { vers, yanked }) => all + (Number(yanked) << Number(vers[4])), 0)
  return sum === 2 ** BITS - 1 ? null : sum
}
