import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { root } from '../../support/plimsoll.ts'
import type { Manner } from '../program.ts'
import { ensure, type Run } from '../run.ts'

/** The kinds of system calls, as calls.c numbers them. */
const KINDS = { read: 1, write: 2, sync: 4 }
export type Kind = keyof typeof KINDS

/** The size of `struct orders`, and where its numbers are. */
const SIZE = 280
const FAILED_AT = 20
const PATH_AT = 24

let libraries = 0

/** A preloaded library that lets single system calls of a program fail. */
export class Calls {
  readonly manner: Manner
  readonly #file: number

  /** Compiles the library with the C compiler `cc`. */
  constructor(run: Run) {
    const library = join(run.folder, `calls-${libraries}.so`)
    const orders = join(run.folder, `calls-${libraries++}`)
    const source = join(root, 'test', 'chaos', 'faults', 'calls.c')
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'])
    writeFileSync(orders, Buffer.alloc(SIZE))
    this.#file = openSync(orders, 'r+')
    run.onEnd(() => closeSync(this.#file))
    this.manner = { env: { LD_PRELOAD: library, FAULT_CALLS: orders } }
  }

  /**
   * From now on the call number `first` of a kind, counted from 1, fails on files that have `path`
   * in their path, and those after it, `times` in all.
   */
  fail(kind: Kind, code: 'EIO' | 'ENOSPC', path: string, first = 1, times = 1): void {
    this.end()
    const orders = Buffer.alloc(SIZE)
    orders.writeInt32LE(constants.errno[code], 4)
    orders.writeInt32LE(first, 8)
    orders.writeInt32LE(times, 12)
    orders.write(path, PATH_AT)
    writeSync(this.#file, orders, 0, SIZE, 0)
    orders.writeInt32LE(KINDS[kind], 0)
    writeSync(this.#file, orders, 0, 4, 0)
  }

  /** Lets no call fail any longer; returns how many did. */
  end(): number {
    const number = Buffer.alloc(4)
    writeSync(this.#file, number, 0, 4, 0)
    ensure(readSync(this.#file, number, 0, 4, FAILED_AT) === 4, 'the orders cannot be read')
    return number.readInt32LE(0)
  }
}
