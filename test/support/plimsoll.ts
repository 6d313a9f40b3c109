import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from './cleanup.ts'
import type { Run } from './command.ts'
import { run } from './command.ts'
import { until } from './until.ts'

/** Root of the checkout: this file runs as dist/test/support/plimsoll.js. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const program = [join(root, 'dist', 'program', 'cli.js')]

/** `plimsoll` of a later version, as an argument of `node`. */
export function laterProgram(which: 'newer' | 'newest'): readonly string[] {
  return [join(root, 'dist', 'test', 'support', 'newer-program.js'), which]
}

/** Runs `plimsoll`, or `which` program, with these arguments in `folder`. */
export function plimsoll(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = '',
  which: readonly string[] = program,
): Promise<Run> {
  return run(process.execPath, [...which, ...args], {
    cwd: folder,
    env: { ...hostEnvironment(), ...env },
    stdin,
  })
}

/** A running `plimsoll serve`. */
export interface Daemon {
  readonly url: string
  /** Its output so far. */
  readonly log: () => string
  /** Sends SIGTERM now and not at the end of the test. */
  readonly stop: () => void
  /** Sends SIGKILL; resolves when it has ended. */
  readonly kill: () => Promise<void>
}

/**
 * Serves the registry folder on a free port; ends it with SIGTERM after the test, and expects exit
 * code 0. A log in a file, if one is named, has a request's line before its answer has arrived.
 */
export async function serve(
  cleanup: Cleanup,
  folder: string,
  env: NodeJS.ProcessEnv = {},
  logFile?: string,
  listen = '127.0.0.1:0',
  which: readonly string[] = program,
): Promise<Daemon> {
  const args = [...which, 'serve', '--dir', folder, '--listen', listen]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...hostEnvironment(), ...env },
    stdio: ['ignore', 'pipe', logFile === undefined ? 'pipe' : openSync(logFile, 'a')],
  })
  let stdout = ''
  let stderr = ''
  const log = (): string =>
    `${stdout}${logFile === undefined ? stderr : readFileSync(logFile, 'utf8')}`
  const ended = new Promise<number | NodeJS.Signals | null>(resolve => {
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
  let isStopped = false
  // A second signal would end it at once.
  const stop = (): void => {
    if (!isStopped) isStopped = child.kill('SIGTERM')
  }
  let expected: number | NodeJS.Signals = 0
  const kill = async (): Promise<void> => {
    expected = 'SIGKILL'
    isStopped = child.kill('SIGKILL')
    await ended
  }
  cleanup.add(async () => {
    stop()
    // It finishes its work first, for at most the 30 s of `server.shutdown_seconds`.
    const timer = setTimeout(() => child.kill('SIGKILL'), 45_000)
    const ending = await ended
    clearTimeout(timer)
    if (ending !== expected)
      throw new Error(`plimsoll serve ended with ${ending} after SIGTERM\n${log()}`)
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  let early: number | NodeJS.Signals | null | undefined
  void ended.then(ending => {
    early = ending
  })
  const address = () => /^listening on (https?:\/\/\S+)$/m.exec(stdout)?.[1]
  await until(
    () => address() !== undefined || early !== undefined,
    () => `plimsoll serve is not ready\n${log()}`,
  )
  const url =
    address() ?? assert.fail(`plimsoll serve ended with ${early} before it was ready\n${log()}`)
  return { url: url.replace(/\/$/, ''), log, stop, kill }
}

/** The host's environment without settings of a registry the host may run. */
export function hostEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PLIMSOLL_')),
  )
}
