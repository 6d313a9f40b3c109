import { randomInt } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { writing } from './disk/fault.ts'

/**
 * A version number of the public tree. A server of the tree compares numbers instead of looking at
 * each file: reading 8 bytes takes a third of the time of `stat`. Other processes write the number
 * to a file; the reader counts its own changes in memory.
 */
export class ChangeNumber {
  readonly #path: string
  readonly #number = new Float64Array(1)
  readonly #bytes = new Uint8Array(this.#number.buffer)
  #file: number | null = null
  #isReader = false
  #own = 0
  #writing: Promise<void> | null = null
  /** Processes begin at random, so that none writes a number that another has written. */
  #last = randomInt(2 ** 47)
  /** The number in the file, until this tick of the event loop ends. */
  #cached: number | null = null
  readonly #expire = () => {
    this.#cached = null
  }

  constructor(path: string) {
    this.#path = path
  }

  /** Renews the number. Call it when a change is visible, before anyone learns of the change. */
  renew(): Promise<void> {
    this.#own++
    // Nobody else reads it, and a slow disk must not block the event loop of a daemon.
    if (this.#isReader) return Promise.resolve()
    // Changes that meet share a write, which comes after all of them.
    this.#writing ??= writing(async () => this.#write())
    return this.#writing
  }

  /**
   * Returns the number; NaN, which equals no number, if the file cannot be read. To be called where
   * a request arrives: the file is read for the first request of a tick of the event loop, and the
   * others of this tick had arrived by then, too.
   */
  read(): number {
    if (this.#cached === null) {
      this.#cached = this.#readFile()
      setImmediate(this.#expire)
    }
    return this.#cached + this.#own
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #readFile(): number {
    this.#isReader = true
    this.#number[0] = 0
    try {
      readSync(this.#open(), this.#bytes, 0, 8, 0)
    } catch {
      return Number.NaN
    }
    return this.#number[0] ?? 0
  }

  async #write(): Promise<void> {
    await null
    this.#writing = null
    const file = this.#open()
    this.#number[0] = ++this.#last
    writeSync(file, this.#bytes, 0, 8, 0)
  }

  #open(): number {
    if (this.#file !== null) return this.#file
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600)
    return this.#file
  }
}
