/**
 * Preloaded into the real program (`node --import`): makes its file operations fail or wait as the
 * file `FAULT_FILE` says (`EIO`, or `slow 200` for milliseconds; empty for nothing), and shifts its
 * clock by `FAULT_CLOCK` milliseconds.
 */
import fs, { promises, readFileSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

const { FAULT_FILE = '', FAULT_CLOCK = '0' } = process.env

/** Files on their way into the registry. */
const FRESH = /\.writing-/

type Method = (...args: unknown[]) => Promise<unknown>

/** The current fault. */
function fault(): string {
  try {
    return readFileSync(FAULT_FILE, 'utf8').trim()
  } catch {
    return ''
  }
}

function wrap(holder: object, method: string, concerns: (args: readonly unknown[]) => boolean) {
  const target = holder as Record<string, Method>
  const original = target[method] as Method
  target[method] = async function (this: unknown, ...args: unknown[]) {
    const pause = fail(method, concerns(args))
    if (pause > 0) await sleep(pause)
    return original.apply(this, args)
  }
}

/** The same for a function that waits: the disk's thread, which loads this file, too, uses those. */
function wrapSync(method: string, concerns: (args: readonly unknown[]) => boolean) {
  const target = fs as unknown as Record<string, (...args: unknown[]) => unknown>
  const original = target[method] as (...args: unknown[]) => unknown
  target[method] = function (this: unknown, ...args: unknown[]) {
    const pause = fail(method, concerns(args))
    if (pause > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
    return original.apply(this, args)
  }
}

/** Fails, or returns for how many milliseconds to wait. */
function fail(method: string, isConcerned: boolean): number {
  const now = isConcerned ? fault() : ''
  const pause = /^slow (\d+)$/.exec(now)?.[1]
  if (pause !== undefined || now === '') return Number(pause ?? 0)
  throw Object.assign(new Error(`${now}: injected, ${method}`), { code: now, errno: -5 })
}

if (FAULT_FILE !== '') {
  for (const method of ['rename', 'link', 'mkdir']) wrap(promises, method, () => true)
  wrap(promises, 'open', args => /[wa+]/.test(String(args[1] ?? 'r')))
  for (const method of ['renameSync', 'linkSync', 'mkdirSync']) wrapSync(method, () => true)
  wrapSync('openSync', args => /[wa+]/.test(String(args[1] ?? 'r')))
  wrapSync('writeFileSync', args => typeof args[0] === 'number' || FRESH.test(String(args[0])))
  const handle: FileHandle = await openFile(new URL(import.meta.url))
  const prototype = Object.getPrototypeOf(handle) as object
  for (const method of ['write', 'writeFile', 'sync', 'datasync'])
    wrap(prototype, method, () => true)
  await handle.close()
  syncBuiltinESMExports()
}

const shift = Number(FAULT_CLOCK)
if (shift !== 0) {
  const Real = Date
  globalThis.Date = class extends Real {
    constructor(...args: []) {
      super(...((args.length === 0 ? [Real.now() + shift] : args) as []))
    }
    static override now(): number {
      return Real.now() + shift
    }
  } as DateConstructor
}
