import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostEnvironment } from '../../support/plimsoll.ts'

/** Milliseconds of processor time, since the start. */
export interface Usage {
  /** Processor time of the process and its running children. */
  readonly own: number
  /** Processor time of its children that have ended. */
  readonly ended: number
}

const TICK_MS = 10

/**
 * A server in its own process. Its cost is read from `/proc`, with its children's and without other
 * programs'.
 */
export class Program {
  readonly #child: ChildProcess
  readonly port: number
  /** From the start until it said that it listens. */
  readonly start: { readonly wall: number; readonly usage: Usage }

  private constructor(child: ChildProcess, port: number, wall: number) {
    this.#child = child
    this.port = port
    this.start = { wall, usage: usageOf(child.pid ?? 0) }
  }

  /**
   * Starts a program; it listens when it says `listening on …:PORT` on its standard output, or
   * accepts connections at `port`.
   */
  static async start(
    command: string,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; port?: number } = {},
  ): Promise<Program> {
    const begin = performance.now()
    const env = { ...hostEnvironment(), ...options.env }
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [output, ended] = ['', false]
    const kill = () => child.kill('SIGKILL')
    // A measurement that fails leaves nothing running.
    process.once('exit', kill)
    child.once('exit', () => {
      ended = true
      process.off('exit', kill)
    })
    const port = new Promise<number>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        output = (output + String(chunk)).slice(-20_000)
        const port = /listening on \S*?:(\d+)\b/.exec(output)?.[1]
        if (port) resolve(Number(port))
      }
      child.stdout.on('data', take)
      child.stderr.on('data', take)
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`${command} has ended:\n${output}`)))
    })
    if (options.port !== undefined) {
      port.catch(() => undefined)
      await accepts(options.port, () => ended)
      return new Program(child, options.port, performance.now() - begin)
    }
    return new Program(child, await port, performance.now() - begin)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  usage(): Usage {
    return usageOf(this.pid)
  }

  /** Resident memory in MiB; see `memoryOf`. */
  memory(which: 'now' | 'peak' = 'now'): number {
    return memoryOf(this.pid, which)
  }

  resetPeak(): void {
    for (const pid of tree(this.pid)) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  }

  /** Waits until it has not used the processor for a while: the work behind the answers is done. */
  async quiet(): Promise<void> {
    let [last, still] = [-1, 0]
    while (still < 8) {
      const { own, ended } = this.usage()
      still = own + ended - last <= TICK_MS ? still + 1 : 0
      last = own + ended
      await sleep(125)
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill(signal)
    await ended
  }
}

/** Processor time between two moments, in milliseconds. */
export function spent(before: Usage, after: Usage): number {
  return after.own + after.ended - before.own - before.ended
}

async function accepts(port: number, hasEnded: () => boolean): Promise<void> {
  while (true) {
    if (hasEnded()) throw new Error(`the program at port ${port} has ended`)
    try {
      await fetch(`http://127.0.0.1:${port}/`)
      return
    } catch {
      await sleep(20)
    }
  }
}

/**
 * Resident memory of a process and all below it, in MiB; `peak` is the most since `forgetPeak`.
 */
export function memoryOf(pid: number, which: 'now' | 'peak'): number {
  const key = which === 'now' ? 'VmRSS' : 'VmHWM'
  const sizes = tree(pid).map(pid =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0),
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

/** Processor time of a process and all below it. */
export function usageOf(pid: number): Usage {
  let [own, ended] = [0, 0]
  for (const child of tree(pid)) {
    const whole = ticksOf(`/proc/${child}/stat`)
    ended += whole.ended
    // The times of running threads are exact to the nanosecond. Ended threads are only in the sum
    // for the whole process, which counts in ticks.
    const running = tasks(child).map(task => {
      const [nanoseconds] = read(`/proc/${child}/task/${task}/schedstat`).split(' ')
      return Number(nanoseconds) / 1e6
    })
    own += Math.max(
      whole.own,
      running.reduce((sum, time) => sum + time, 0),
    )
  }
  return { own, ended }
}

function ticksOf(path: string): Usage {
  const text = read(path)
  // After the name in parentheses: state first, then numbers; see proc(5).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return {
    own: ((fields[11] ?? 0) + (fields[12] ?? 0)) * TICK_MS,
    ended: ((fields[13] ?? 0) + (fields[14] ?? 0)) * TICK_MS,
  }
}

/** The text of a file of `/proc`; empty when its process or thread has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return ''
    throw error
  }
}

/** A process and all below it that run. */
function tree(pid: number): number[] {
  const children = tasks(pid).flatMap(task =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap(child => tree(Number(child)))]
}

/** The threads of a process; none when it has just ended. */
function tasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
