import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf, ownEnvironment, spent, usageOf } from './program.ts'

/**
 * The cost of a command: seconds, seconds of processor time, and its peak resident memory in MiB.
 */
export interface Cost {
  readonly wall: number
  readonly processor: number
  readonly peak: number
}

/** Runs a program of Node to its end. Throws unless it ends with 0. */
export async function runToEnd(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Cost> {
  const begin = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const pid = child.pid ?? 0
  let output = ''
  child.stderr.on('data', chunk => {
    output = (output + String(chunk)).slice(-2000)
  })
  const none = { own: 0, ended: 0 }
  let [wall, code, peak, usage]: [number | null, number | null, number, typeof none] = [
    null,
    null,
    0,
    none,
  ]
  child.once('exit', status => {
    wall = (performance.now() - begin) / 1000
    code = status
  })
  const exited = once(child, 'exit')
  while (wall === null) {
    peak = Math.max(peak, memoryOf(pid, 'peak'))
    const now = usageOf(pid)
    if (now.own > 0) usage = now
    await Promise.race([sleep(100), exited])
  }
  if (code !== 0) throw new Error(`${args.join(' ')} has failed with ${code}:\n${output}`)
  return { wall, processor: spent(none, usage) / 1000, peak }
}
