import { createHash } from 'node:crypto'
import { parseName } from '../../core/name.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { buildCrate } from '../../test/support/crate-builder.ts'
import { ensure, Violation } from '../run.ts'

/** The `.crate` of a version: the same parts give the same bytes. */
export function crateBytes(name: string, version: string): Uint8Array {
  return buildCrate({ name, version, files: { 'src/lib.rs': `// ${name} ${version}\n` } })
}

/** SHA-256, lowercase hex. */
export function checksum(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The path of a crate's index file. */
export function indexUrl(url: string, name: string): string {
  return `${url}/${indexPath(parseName(name))}`
}

/** The checked fields of a line in an index file. */
export interface Line {
  readonly name: string
  readonly vers: string
  readonly cksum: string
  readonly yanked: boolean
}

/** Reads an answered index file; every line has to be whole. */
export function parseIndex(name: string, text: string): Line[] {
  ensure(text === '' || text.endsWith('\n'), `the index file of ${name} is cut: ${text}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => parseLine(name, line))
}

function parseLine(name: string, line: string): Line {
  try {
    return JSON.parse(line) as Line
  } catch {
    throw new Violation(`the index file of ${name} has a broken line: ${line}`)
  }
}

/** The yank flag of a version; `null` while either is right. Each change makes a new one. */
interface Flag {
  readonly yanked: boolean | null
}

/**
 * The acknowledged changes, and the requests without an answer: their effect may be there or not,
 * but once it has been seen it stays.
 */
export class Truth {
  /** Versions by crate. */
  readonly #versions = new Map<string, Map<string, Flag>>()
  /** Versions that were asked for, by crate. */
  readonly #unanswered = new Map<string, Set<string>>()
  /** Owners besides the first, by crate; `null` while either is right. */
  readonly owners = new Map<string, Map<string, boolean | null>>()
  readonly #checksums = new Map<string, string>()
  /** Crates that somebody wanted to change since this was emptied. */
  readonly touched = new Set<string>()
  acknowledged = 0

  /** A version is asked for. */
  askVersion(name: string, version: string): void {
    this.touched.add(name)
    this.#of(this.#unanswered, name, () => new Set()).add(version)
    this.#checksums.set(`${name} ${version}`, checksum(crateBytes(name, version)))
  }

  /** A version is there. */
  hasVersion(name: string, version: string, yanked = false): void {
    this.#unanswered.get(name)?.delete(version)
    this.#of(this.#versions, name, () => new Map()).set(version, { yanked })
    this.acknowledged++
  }

  /** A yank flag is uncertain while it is requested (null), then it is the requested one. */
  setYanked(name: string, version: string, yanked: boolean | null): void {
    this.touched.add(name)
    this.#versions.get(name)?.set(version, { yanked })
    if (yanked !== null) this.acknowledged++
  }

  /** The same for an owner. */
  setOwner(name: string, login: string, isOwner: boolean | null): void {
    this.touched.add(name)
    this.#of(this.owners, name, () => new Map()).set(login, isOwner)
    if (isOwner !== null) this.acknowledged++
  }

  /** The required content of a crate's index now; a copy. */
  expected(name: string): ReadonlyMap<string, Flag> {
    return new Map(this.#versions.get(name))
  }

  /** Every crate that anybody asked for. */
  names(): string[] {
    return [...new Set([...this.#versions.keys(), ...this.#unanswered.keys()])]
  }

  /**
   * Fails unless the lines have all that was expected before they were asked for, and nothing that
   * nobody asked for.
   */
  compare(name: string, expected: ReadonlyMap<string, Flag>, lines: readonly Line[]) {
    const found = new Map(lines.map(line => [line.vers, line]))
    ensure(found.size === lines.length, `the index of ${name} has a version twice`)
    for (const [version, flag] of expected) {
      const { yanked } = flag
      const line = found.get(version)
      ensure(line, `${name} ${version} was acknowledged and is not in the index`)
      // Somebody may have changed it meanwhile.
      if (yanked !== null && this.#versions.get(name)?.get(version) === flag)
        ensure(
          line.yanked === yanked,
          `${name} ${version} was acknowledged as yanked=${yanked}, and the index says ${line.yanked}`,
        )
    }
    for (const { name: spelled, vers, cksum } of lines) {
      ensure(spelled === name, `the index of ${name} speaks of ${spelled}`)
      const known = this.#checksums.get(`${name} ${vers}`)
      ensure(known, `the index has ${name} ${vers}, which nobody published`)
      ensure(cksum === known, `the index has another checksum for ${name} ${vers}`)
    }
  }

  /** Accepts the current lines as known, once the daemon has started again. */
  settle(name: string, lines: readonly Line[]): void {
    const versions = this.#of(this.#versions, name, () => new Map<string, Flag>())
    for (const { vers, yanked } of lines) versions.set(vers, { yanked })
    if (versions.size === 0) this.#versions.delete(name)
    this.#unanswered.delete(name)
  }

  #of<V>(map: Map<string, V>, name: string, make: () => V): V {
    const found = map.get(name) ?? make()
    map.set(name, found)
    return found
  }
}
