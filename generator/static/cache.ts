import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Issue } from '../../core/error/error.ts'
import type { Release } from '../../core/release/release.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { readText, writeWhole } from '../store/durable-file.ts'

/** What a static build needs of a release, and what its `.crate` gave reason to warn of. */
export interface Inspected {
  readonly release: Omit<Release, 'files'>
  readonly warnings: readonly Issue[]
}

/** A home that cannot be used, as in many containers, costs time and nothing else. */
const UNUSABLE = [
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
  'ENOSPC',
  'EDQUOT',
]

/** Fewer releases are inspected in a moment; for them no file is left behind. */
const WORTHWHILE = 100

/**
 * What earlier builds found in `.crate` files, by their checksum, so that the same bytes are not inspected again. Only
 * results that depend on nothing else are in it: with other limits or index URLs, another Node or another version of
 * this program, the file counts as empty. Every line carries its own checksum; a damaged one counts as absent.
 */
export class InspectionCache {
  readonly #path: string | null
  readonly #context: string
  readonly #before = new Map<string, string>()
  readonly #after = new Map<string, string>()

  private constructor(path: string | null, context: string) {
    this.#path = path
    this.#context = context
  }

  /** Reads the cache at `path`; null keeps nothing. */
  static async open(
    path: string | null,
    limits: Settings['limits'],
    own: ReadonlySet<string>,
  ): Promise<InspectionCache> {
    const context = sha256(
      JSON.stringify([programDigest(), process.version, limits, [...own].sort()]),
    )
    const cache = new InspectionCache(path, context)
    const [head, ...lines] = (
      (path === null ? null : await ifUsable(() => readText(path))) ?? ''
    ).split('\n')
    if (head !== context) return cache
    for (const line of lines) cache.#before.set(line.slice(0, 64), line)
    return cache
  }

  /** What the bytes with this checksum are known to hold; otherwise `work` finds out, undefined when they are broken. */
  async get(
    cksum: string,
    work: () => Promise<Inspected | undefined>,
  ): Promise<Inspected | undefined> {
    const line = this.#before.get(cksum)
    const known = line === undefined ? null : contents(line)
    if (line !== undefined && known !== null) {
      this.#after.set(cksum, line)
      return JSON.parse(known) as Inspected
    }
    const found = await work()
    if (!found) return undefined
    const json = JSON.stringify(found)
    this.#after.set(cksum, `${cksum} ${sha256(cksum + json)} ${json}`)
    // The same way as from the cache, so that both give the same.
    return JSON.parse(json) as Inspected
  }

  /** Leaves behind what this build has used, for the next one. */
  async close(): Promise<void> {
    if (this.#path === null || this.#after.size < WORTHWHILE) return
    const lines = [...this.#after.keys()].sort().map(cksum => this.#after.get(cksum))
    const path = this.#path
    await ifUsable(() => writeWhole(path, Buffer.from([this.#context, ...lines].join('\n'))))
  }
}

async function ifUsable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!UNUSABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return null
  }
}

/** The JSON of a line `{cksum} {checksum of the rest} {json}`; null when the line is damaged. */
function contents(line: string): string | null {
  const json = line.slice(130)
  return line.slice(65, 129) === sha256(line.slice(0, 64) + json) ? json : null
}

/** All code of this half of the program: what an inspection finds may change with any of it. */
function programDigest(): string {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const hash = createHash('sha256')
  for (const name of names.filter(one => one.endsWith('.js')).sort())
    hash.update(name).update(readFileSync(join(root, name)))
  return hash.digest('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
