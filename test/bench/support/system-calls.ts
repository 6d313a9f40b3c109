import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const SYNCS = ['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync', 'msync']

/** When something happened, in milliseconds since 1970. */
export interface Calls {
  readonly syncs: readonly number[]
  /** Programs that were started. */
  readonly programs: readonly number[]
}

/** Whether `strace`, which counts system calls, is installed. */
export function canTrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Watches a running process, its threads and its children, until `stop` returns the calls. */
export class Trace {
  readonly #child: ChildProcess
  readonly #file: string

  private constructor(child: ChildProcess, file: string) {
    this.#child = child
    this.#file = file
  }

  static async attach(pid: number, file: string): Promise<Trace> {
    const calls = `trace=${[...SYNCS, 'execve'].join(',')}`
    const args = ['-f', '-ttt', '-e', calls, '-o', file, '-p', String(pid)]
    const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    await once(child.stderr, 'data')
    // It says so after the first thread; the others follow at once.
    await sleep(200)
    return new Trace(child, file)
  }

  async stop(): Promise<Calls> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    await ended
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    const times = (pattern: RegExp) =>
      lines.flatMap(line => (pattern.test(line) ? [Number(line.split(/ +/)[1]) * 1000] : []))
    return {
      // If another thread comes in between, a second line says `resumed`.
      syncs: times(new RegExp(`^\\d+ +[\\d.]+ (?:${SYNCS.join('|')})\\(`)),
      // Names are tried in every folder of `PATH`; the last one is found.
      programs: times(/execve(?:\(| resumed>).* = 0$/),
    }
  }
}
